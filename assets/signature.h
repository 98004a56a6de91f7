/* signature.h - detached ed25519 signatures as minisign makes them
 * A signature is text: comment, signature, and a trusted comment with a signature over both. Both of
 * minisign's algorithms are known: "ED" signs the BLAKE2b-512 of the data, the older "Ed" the data. A
 * trusted comment that is there must be right; one line of base64 without comments will do as well.
 * Owner: the arena. Errors: CONFIG for text that is not a signature or a key, INTEGRITY for what does not verify, SYSTEM.
 * Threads: all functions. Source: minisign(1), RFC 8032, RFC 7693.
 * Tests: test_signature.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/mem.h"

enum { SIGNATURE_ID = 8, SIGNATURE_KEY = 32, SIGNATURE_SIZE = 64 };

struct signature_key {
	uint8_t id[SIGNATURE_ID]; /* the number of the key, and no part of it */
	uint8_t bytes[SIGNATURE_KEY];
	const char *from; /* its place in the documents, for messages */
};

struct signature_keys {
	struct signature_key *v;
	size_t n;
};

struct signature {
	bool prehashed;
	uint8_t id[SIGNATURE_ID];
	uint8_t bytes[SIGNATURE_SIZE];
	const char *comment; /* the trusted one; NULL: none */
	uint8_t global[SIGNATURE_SIZE];
};

/* A public key: the line of base64, with or without its comment. */
int signature_parse_key(struct arena *a, const char *text, struct signature_key *ret,
			struct err *e) must_check;
/* A signature: a .minisig file's text, or its second line alone. */
int signature_parse(struct arena *a, const char *text, struct signature *ret,
		    struct err *e) must_check;
/* Fails unless one of the keys made s over this text, or over this file from its start. */
int signature_check(const struct signature *s, const struct signature_keys *keys, const void *data,
		    size_t n, struct err *e) must_check;
int signature_check_fd(const struct signature *s, const struct signature_keys *keys, int fd,
		       const char *name, struct err *e) must_check;
/* A key's or signature's id as minisign prints it. */
const char *signature_id(const uint8_t id[static SIGNATURE_ID], struct arena *a);
