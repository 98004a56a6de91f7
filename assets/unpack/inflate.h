/* inflate.h - gzip, as a stream
 * What is read is what gunzip would write: any number of members, their headers with all they may
 * carry, checksum and length of each compared. Zeros may follow the last one, nothing else.
 * Owner: the caller frees. Errors: a reason as text. Units: bytes. Threads: one user at a time.
 * Source: RFC 1952; ISA-L, whose only user this is.
 * Tests: test_inflate.c. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* The next compressed bytes, valid until the next call: their number, 0 at the end, < 0 on error. */
typedef ssize_t inflate_read_fn(void *arg, const void **ret);

struct inflate;

/* Begin; nothing is read yet. */
struct inflate *inflate_new(inflate_read_fn *read, void *arg);
/* Release; NULL is fine. */
void inflate_free(struct inflate *z);
/* The next inflated bytes, valid until the next call: their number, 0 at the end. -EBADMSG with *why for
 * bytes that are not gzip; what the reader failed with is passed on. */
ssize_t inflate_read(struct inflate *z, const void **ret, const char **why);
