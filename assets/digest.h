/* digest.h - sha1, sha256 and sha512: parse, compute while bytes pass, compare; and the BLAKE2b-512 of minisign
 * sha1 is here only because documents of 2018 name it; the caller warns.
 * Owner: values. Errors: CONFIG for text that is not a digest. Threads: a ctx has one user at a time.
 * Source: FIPS 180-4; kops util/pkg/hashing (algorithm by length, optional "algo:" prefix).
 * Tests: test_digest.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "nodeup/base/err.h"

/* Documents may name the algorithms before DIGEST_ALGO_MAX. */
enum digest_algo {
	DIGEST_SHA1,
	DIGEST_SHA256,
	DIGEST_SHA512,
	DIGEST_ALGO_MAX,
	DIGEST_BLAKE2B = DIGEST_ALGO_MAX
};

enum { DIGEST_SIZE_MAX = 64, DIGEST_TEXT_MAX = 2 * DIGEST_SIZE_MAX + 1 };

struct digest {
	enum digest_algo algo;
	uint8_t bytes[DIGEST_SIZE_MAX]; /* the first digest_size(algo) are used, the rest is zero */
};

struct digest_ctx;

/* Reads "0f3a59e4..." by its length (40, 64, 128), or "sha256:..."; CONFIG for any other text. */
int digest_parse(const char *text, size_t n, struct digest *ret_d, struct err *e) must_check;
/* Writes hex without prefix into a fixed buffer. Returns hex. */
const char *digest_hex(const struct digest *d, char hex[static DIGEST_TEXT_MAX]);
/* Returns "sha1", "sha256", "sha512", "blake2b512". */
const char *digest_algo_name(enum digest_algo algo);
/* Returns the number of bytes of a digest of this algorithm. */
size_t digest_size(enum digest_algo algo);
/* Compares algorithm and bytes in constant time. */
bool digest_eq(const struct digest *a, const struct digest *b);

/* Begins a digest; never NULL. */
struct digest_ctx *digest_new(enum digest_algo algo) must_check;
/* Adds bytes. */
void digest_update(struct digest_ctx *c, const void *data, size_t n);
/* Gives the digest of all bytes. Afterwards c can only be freed. */
void digest_final(struct digest_ctx *c, struct digest *ret_d);
/* Releases a digest that was begun; NULL is fine. */
void digest_free(struct digest_ctx *c);
void cleanup_digestp(struct digest_ctx **c);
#define autodigest __attribute__((cleanup(cleanup_digestp)))

/* Hash a buffer, and an open file from its start (pread, offset untouched). */
void digest_of(enum digest_algo algo, const void *data, size_t n, struct digest *ret_d);
int digest_of_fd(enum digest_algo algo, int fd, const char *name, struct digest *ret_d,
		 struct err *e) must_check;
/* Writes the sha256 of a buffer in hex. Returns hex. */
const char *digest_sha256_hex(const void *data, size_t n, char hex[static DIGEST_TEXT_MAX]);
