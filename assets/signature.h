/* signature.h - detached ed25519 signatures as minisign makes them
 * A signature is text: comment, signature, and a trusted comment with a signature over both. Knows both algorithms
 * of minisign: "ED" signs the BLAKE2b-512 of the data, the older "Ed" the data itself. A trusted comment must be
 * right if there is one. One line of base64 without comments is accepted too.
 * Owner: the arena. Errors: CONFIG for text that is not a signature or a key, INTEGRITY for a signature that does
 * not verify, SYSTEM. Threads: all functions. Source: minisign(1), RFC 8032, RFC 7693.
 * Tests: test_signature.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/mem.h"

enum { SIGNATURE_ID = 8, SIGNATURE_KEY = 32, SIGNATURE_SIZE = 64 };

struct signature_key {
	uint8_t id[SIGNATURE_ID]; /* the key's number; the text form has it in front of the key */
	uint8_t bytes[SIGNATURE_KEY];
	const char *from; /* the key's place in the documents, for messages */
};

struct signature_keys {
	struct signature_key *v;
	size_t n;
};

struct signature {
	bool prehashed;
	uint8_t id[SIGNATURE_ID];
	uint8_t bytes[SIGNATURE_SIZE];
	const char *comment; /* trusted comment; NULL: none */
	uint8_t global[SIGNATURE_SIZE];
};

/* Reads a public key: its line of base64, with or without the comment. */
int signature_parse_key(struct arena *a, const char *text, struct signature_key *ret,
			struct err *e) must_check;
/* Reads a signature: the text of a .minisig file, or its second line alone. */
int signature_parse(struct arena *a, const char *text, struct signature *ret,
		    struct err *e) must_check;
/* Fails unless one of the keys made s over this text, or over the whole content of this file. */
int signature_check(const struct signature *s, const struct signature_keys *keys, const void *data,
		    size_t n, struct err *e) must_check;
int signature_check_fd(const struct signature *s, const struct signature_keys *keys, int fd,
		       const char *name, struct err *e) must_check;
/* Returns a key's or signature's id as minisign prints it. */
const char *signature_id(const uint8_t id[static SIGNATURE_ID], struct arena *a);
