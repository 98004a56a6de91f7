/* inflate.h - inflates gzip as a stream
 * Gives the bytes that gunzip would write. Reads any number of members and all forms of headers, and compares
 * checksum and length of each. Only zeros may follow the last member.
 * Owner: the caller frees. Errors: a reason as text. Units: bytes. Threads: one user at a time.
 * Source: RFC 1952; ISA-L, which only this file uses.
 * Tests: test_inflate.c. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Gives the next compressed bytes, valid until the next call. Returns the number of bytes, 0 at the end, < 0 on
 * error. */
typedef ssize_t inflate_read_fn(void *arg, const void **ret);

struct inflate;

/* Begins; reads nothing yet. */
struct inflate *inflate_new(inflate_read_fn *read, void *arg);
/* Releases the inflater; NULL is fine. */
void inflate_free(struct inflate *z);
/* Gives the next inflated bytes, valid until the next call. Returns the number of bytes, 0 at the end. -EBADMSG with
 * *why for bytes that are not gzip; passes the reader's errors on. */
ssize_t inflate_read(struct inflate *z, const void **ret, const char **why);
