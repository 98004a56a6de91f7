/* source.h - the bytes of a tar archive out of a file or a pipe, compressed once or not at all
 * What it is is told by its first bytes: gzip goes through inflate.h, xz and zstd through libarchive.
 * More than 256 times what went in does not come out (beyond the first 16 MiB): a bomb. Nor does what
 * takes more than 24 MiB of memory: a window of which that much is in use.
 * Owner: the caller frees; the fd is the caller's. Errors: negative errno; `why` or `errnum` says more.
 * Units: bytes. Threads: one.
 * Tests: test_extract_read.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "nodeup/base/err.h"

struct extract_source {
	const char *why; /* the archive is broken or refused; NULL it is not */
	int errnum;      /* reading failed, 0 not */
	bool bomb;       /* refused, not broken */
	uint64_t in, out;
	struct extract_reader *reader;
};

/* Look at the first bytes of what fd gives. `name` is for messages. */
int extract_source_open(struct extract_source *s, int fd, const char *name,
			struct err *e) must_check;
/* Release what it holds. */
void extract_source_done(struct extract_source *s);
/* The next bytes of the tar archive, valid until the next call: their number, 0 at the end. */
ssize_t extract_source_read(struct extract_source *s, const void **ret);
/* Returns whether `bytes`, holes counted, is more than the bytes read so far may become; then `why` says so. */
bool extract_source_is_bomb(struct extract_source *s, uint64_t bytes);
/* The first `taken` bytes have been used: all that follows must be zeros. It is read to its end. */
int extract_source_end(struct extract_source *s, uint64_t taken);
