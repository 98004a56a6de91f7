/* tar.h - archives for tests, written byte by byte so that they can be as evil as they like
 * Owner: the caller's buf. Errors: assertions. Source: POSIX ustar, GNU long names. */
#pragma once

#include <stdint.h>
#include "assets/unpack/extract.h"
#include "nodeup/base/buf.h"

struct tar_entry {
	const char *name; /* up to 100 bytes; longer with a GNU long name before it */
	char type; /* '0' file, '1' hard link, '2' link, '3' and '4' device, '5' directory, '6' fifo */
	const char *link;  /* target, NULL none */
	unsigned int mode; /* 0: 0644, 0755 for a directory */
	const char *data;  /* NULL none */
	uint64_t size;     /* 0: the length of data */
};

#define TAR_BUF BUF_INIT(8 * 1024 * 1024)

/* Append one entry, and the two empty blocks of the end. */
void tar_add(struct buf *b, const struct tar_entry *t);
void tar_end(struct buf *b);
/* Compress; the results replace what b holds. */
void tar_gzip(struct buf *b);
void tar_xz(struct buf *b);
void tar_zstd(struct buf *b);
/* The verdict on all of an archive. */
int tar_extract(int fd, const char *name, const struct extract_limits *limits,
		struct err *e) must_check;
