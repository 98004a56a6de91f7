/* private_key.h - a private key from its text, and back
 * OpenSSL 3 looks through all its decoders for each key that it reads, which takes it longer than all else that is done with it. The
 * numbers of an RSA key are read here, and the key is made of them.
 * Owner: the caller, of what autokey ends. Errors: NULL. Threads: all.
 * Source: RFC 8017 A.1.2, RFC 5208, RFC 5915.
 * Tests: test_pem.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/mem.h"

struct evp_pkey_st;

/* Releases what a scope holds. */
void private_key_free(struct evp_pkey_st **key);
#define autokey __attribute__((cleanup(private_key_free))) struct evp_pkey_st

/* Returns the first private key of a text; NULL also where that wants a password. */
struct evp_pkey_st *private_key_read(const char *text);
/* Returns whether its numbers belong together. A bit that flipped in one of them still leaves a key, with which nothing can be signed.
 * Only for RSA, which is all that kops makes. */
bool private_key_is_sound(const struct evp_pkey_st *key);
/* Returns it in the form of its own algorithm; NULL: it cannot be written. */
const char *private_key_text(struct arena *a, const struct evp_pkey_st *key);
