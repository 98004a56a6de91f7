/* private_key.h - a private key from its text, and back
 * For each key that it reads, OpenSSL 3 looks through all its decoders; that takes longer than everything else it
 * does with the key. So the numbers of an RSA key are read here, and the key is made of them.
 * Owner: the caller, of the key that private_key_read returns; a variable declared `autokey` frees it at the end of
 * its scope. Errors: NULL. Threads: all. Source: RFC 8017 A.1.2, RFC 5208, RFC 5915.
 * Tests: test_pem.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/mem.h"

struct evp_pkey_st;

/* Releases the key that a variable holds at the end of its scope. */
void private_key_free(struct evp_pkey_st **key);
#define autokey __attribute__((cleanup(private_key_free))) struct evp_pkey_st

/* Returns the first private key of a text. Returns NULL also for a key with a password. */
struct evp_pkey_st *private_key_read(const char *text);
/* Returns whether the key's numbers belong together. A key with one flipped bit can still be read, but cannot sign.
 * Checks only RSA, as kops makes no other keys. */
bool private_key_is_sound(const struct evp_pkey_st *key);
/* Writes the key in the form of its algorithm; NULL: the key cannot be written. */
const char *private_key_text(struct arena *a, const struct evp_pkey_st *key);
