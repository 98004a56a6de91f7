/* pem.h - whether a certificate and a key of the state store are what they should be
 * The texts go to the node as they stand. No message has anything of a text in it.
 * Owner: nothing is kept. Errors: CONFIG, without the place, which the caller knows. Threads: all.
 * Source: kops 1.8.1 pkg/pki (which finds out what it cannot parse, and no more). */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"

/* Whether text holds an X.509 certificate. */
int pem_check_certificate(const char *text, struct err *e) must_check;
/* Whether text holds a private key that can be read without a password, and it is the one of that
 * good certificate. */
int pem_check_key(const char *text, const char *certificate, struct err *e) must_check;
/* A copy that ends in a newline, so that such texts can be joined; NULL for NULL. */
const char *pem_lines(struct arena *a, const char *text);
