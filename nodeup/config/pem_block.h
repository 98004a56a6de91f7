/* pem_block.h - the blocks of a PEM text, for those who read what is in them, and certificates by their bytes
 * Invariant: what was in a block is cleared.
 * Owner: the caller, of what autobio and autopem end. Errors: false. Threads: all.
 * Tests: test_pem.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "nodeup/base/mem.h"

struct bio_st;
struct x509_st;

/* The name in its BEGIN line, and its bytes. */
struct pem_block {
	char *label, *headers;
	unsigned char *der;
	long n;
};

/* Releases what a scope holds. */
void pem_close(struct bio_st **bio);
void pem_free_block(struct pem_block *b);
#define autobio __attribute__((cleanup(pem_close))) struct bio_st
#define autopem __attribute__((cleanup(pem_free_block))) struct pem_block

/* Returns what OpenSSL reads the text from. The host's openssl.cnf is not read from now on. */
struct bio_st *pem_open(const char *text);
/* Reads the next block into one that was read before, or is zero; false: there is none that can be read. */
bool pem_next(struct bio_st *bio, struct pem_block *ret);
/* Returns how many lines begin a block, or are to. */
size_t pem_count(const char *text);
/* Returns what was written. */
const char *pem_text(struct arena *a, struct bio_st *bio);
/* Returns the certificate that these bytes begin with, and whether they are nothing else. Each is parsed once and kept, as OpenSSL 3
 * takes as long for that as to check a signature, and a CA is read again with each certificate that it signed. */
struct x509_st *certificate_of(const unsigned char *der, long n, bool *ret_whole);
