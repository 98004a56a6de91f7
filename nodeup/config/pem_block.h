/* pem_block.h - reads the blocks of a PEM text, and makes certificates of bytes
 * Invariant: what was in a block is cleared.
 * Owner: the caller, of what autobio and autopem end. Errors: false. Threads: all.
 * Tests: test_pem.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "nodeup/base/mem.h"

struct bio_st;
struct x509_st;

/* A block of a PEM text: the name in its BEGIN line, and its bytes. */
struct pem_block {
	char *label, *headers;
	unsigned char *der;
	long n;
};

/* Each function releases what a variable holds at the end of its scope. */
void pem_close(struct bio_st **bio);
void pem_free_block(struct pem_block *b);
#define autobio __attribute__((cleanup(pem_close))) struct bio_st
#define autopem __attribute__((cleanup(pem_free_block))) struct pem_block

/* Opens the text for OpenSSL. From now on OpenSSL does not read the host's openssl.cnf. */
struct bio_st *pem_open(const char *text);
/* Reads the next block into ret, which is zero or holds an earlier block. false: no further block can be read. */
bool pem_next(struct bio_st *bio, struct pem_block *ret);
/* Returns the number of lines that begin a block, or seem to. */
size_t pem_count(const char *text);
/* Returns the text that was written to bio. */
const char *pem_text(struct arena *a, struct bio_st *bio);
/* Returns the certificate that these bytes begin with; NULL: there is none. *ret_whole: whether no other bytes
 * follow the certificate. The caller owns one reference. OpenSSL 3 takes as long to parse a certificate as to check
 * a signature, so up to 64 are kept until the process ends. Kept certificates are shared: nobody may change them. */
struct x509_st *certificate_of(const unsigned char *der, long n, bool *ret_whole);
