/* buf.h - a growable byte buffer with a maximum
 * An append beyond the maximum keeps the earlier bytes and sets `overflow`. This flag stays set, so a chain of
 * appends needs only one check at its end. data is NUL-terminated whenever it is not NULL.
 * Owner: the caller (`autobuf`). Errors: -EFBIG by buf_check. Units: bytes.
 * Tests: test_str.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/mem.h"

struct buf {
	char *data;
	size_t len, cap, max;
	bool overflow;
};

#define BUF_INIT(limit) ((struct buf){ .max = (limit) })
#define autobuf __attribute__((cleanup(buf_done)))

/* Releases the storage; b can be used again. */
void buf_done(struct buf *b);
/* Append bytes, a string, one byte, or formatted text. Return 0, or -EFBIG beyond the maximum. */
int buf_add(struct buf *b, const void *p, size_t n);
int buf_adds(struct buf *b, const char *s);
int buf_addc(struct buf *b, char c);
int buf_addf(struct buf *b, const char *fmt, ...) printf_like(2, 3);
/* Returns the text so far; "" for an empty buffer. */
const char *buf_str(const struct buf *b);
/* Gives the text away as a malloc'ed string; b is empty afterwards. */
char *buf_take(struct buf *b) must_check;
/* Returns 0. If bytes were dropped, returns -EFBIG with an error that names `what`. */
int buf_check(const struct buf *b, const char *what, struct err *e) must_check;
