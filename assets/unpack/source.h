/* source.h - the bytes of a tar archive, from a file or a pipe, compressed once or not at all
 * The first bytes tell the format: gzip goes through inflate.h, xz and zstd through libarchive. After the first 16
 * MiB, output of more than 256 times the input is refused as a bomb. An archive that needs more than 24 MiB of
 * memory is refused too; of its window only the used part counts.
 * Owner: the caller frees; the fd is the caller's. Errors: negative errno; `why` or `errnum` says more. Units:
 * bytes. Threads: one.
 * Tests: test_extract_read.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "nodeup/base/err.h"

struct extract_source {
	const char *why; /* why the archive is broken or refused; NULL: no fault so far */
	int errnum;      /* errno of a failed read; 0: none */
	bool bomb;       /* true: the archive is refused, not broken */
	uint64_t in, out;
	struct extract_reader *reader;
};

/* Reads the first bytes of fd to recognise the format. `name` is for messages. */
int extract_source_open(struct extract_source *s, int fd, const char *name,
			struct err *e) must_check;
/* Releases its members. */
void extract_source_done(struct extract_source *s);
/* Gives the next bytes of the tar archive, valid until the next call. Returns the number of bytes, 0 at the end. */
ssize_t extract_source_read(struct extract_source *s, const void **ret);
/* Returns whether `bytes` (with holes) are more than the input so far may unpack to. If so, `why` gets the reason. */
bool extract_source_is_bomb(struct extract_source *s, uint64_t bytes);
/* Checks the rest after the first `taken` bytes: all of it must be zeros. Reads to the end. */
int extract_source_end(struct extract_source *s, uint64_t taken);
