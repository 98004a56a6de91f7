/* certificate.h - certificates by their bytes, each parsed once
 * To parse one takes OpenSSL 3 as long as to check a signature, and a CA is read again with each certificate that it signed.
 * Invariant: what is kept is not changed, nor given up before the process ends.
 * Owner: the caller, of a reference. Errors: NULL, for what is none. Threads: all.
 * Tests: test_pem.c. */
#pragma once

#include <stdbool.h>

struct x509_st;

/* Returns the certificate that these bytes begin with, and whether they are nothing else. */
struct x509_st *certificate_of(const unsigned char *der, long n, bool *ret_whole);
