/* pem.h - whether a certificate and a key of the state store are what they should be
 * The texts of the store go to the node as they stand, and no message has anything of them but what a block is called. Of a certificate that was issued
 * messages have the names.
 * Owner: nothing is kept. Errors: CONFIG, without the place, which the caller knows. Threads: all.
 * Source: kops 1.8.1 pkg/pki (which finds out what it cannot parse, and no more).
 * Tests: test_pem.c. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"

struct x509_store_st;

/* Returns whether text holds X.509 certificates, and each block of it that is to be one, is. When they end is not asked. */
int pem_check_certificate(const char *text, struct err *e) must_check;
/* Returns the certificates of a text that was checked, for servers to be verified by. Each is the one that the check has parsed. */
struct x509_store_st *pem_roots(const char *text);
void pem_free_roots(struct x509_store_st *roots);
/* Returns whether text holds public keys as kube-apiserver takes them, also out of private keys and certificates. */
int pem_check_public_keys(const char *text, struct err *e) must_check;
/* Returns whether text holds a private key that can be read without a password, and it is that of the certificate, which is
 * one; this errnum: it is none. */
enum { PEM_CERTIFICATE = EBADMSG };
int pem_check_key(const char *text, const char *certificate, struct err *e) must_check;
/* Make an RSA key of 2048 bits: its private text, PKCS#1, and the public one as kops-controller takes it, a block
 * named as PKCS#1 with the bytes of PKIX. SYSTEM: there is no randomness. */
int pem_new_key(struct arena *a, const char **ret_private, const char **ret_public,
		struct err *e) must_check;
/* Demands on a certificate that was asked for. It is no CA's, may sign no other, and has one usage. */
struct pem_wanted {
	const char *key;       /* the private key that it is for */
	const char *pool;      /* certificates of the CA, all generations */
	const char *issuer_id; /* decimal serial number of the signer; NULL: any */
	const char *name,
		*organization; /* its subject is CN and O, no more; organization NULL: CN alone */
	/* names and addresses that it has, and those that it may have beside them; NULL-terminated, where an empty
	 * one is none. hosts NULL: none must be there; others NULL: any may */
	const char *const *hosts, *const *others;
	bool serves;  /* for a server, else for a client */
	int64_t time; /* seconds since 1970; 0: its dates and its CA's are not looked at */
	bool fresh;   /* more than a third of its life is left */
};

/* From when until when a certificate holds, and the CA's that has signed it, in seconds since 1970. */
struct pem_life {
	int64_t from, until, ca_from, ca_until;
};

/* Checks that the first certificate of a text is such a one. CONFIG; with EADDRNOTAVAIL only a name beyond others is wrong. */
int pem_check_issued(const char *text, const struct pem_wanted *want, struct pem_life *ret,
		     struct err *e) must_check;
/* Returns whether what passed that check would pass it for `want`, of which only the time, and whether it is to be fresh, is another. */
bool pem_still_holds(const struct pem_life *life, const struct pem_wanted *want);
/* Returns whether a certificate of a text, or the one of that serial number, is valid at a time, in seconds since 1970. If not, say between
 * which times the last one of them is. A certificate that is not there is in time. */
bool pem_is_in_time(const char *text, const char *id, int64_t time, int64_t *ret_from,
		    int64_t *ret_until);
/* Parts of a certificate to be made. Its usage is a server's or a client's, and its serial number has 128 random bits. */
struct pem_order {
	const char *key;                 /* the private key that it is for */
	const char *signer, *signer_key; /* certificate and private key of the CA */
	const char *name, *organization; /* CN and O of its subject; organization NULL: none */
	const char *const *hosts;        /* as in pem_wanted; what is not an address is a name */
	bool serves;                     /* for a server, else for a client */
	int64_t from, until;             /* seconds since 1970 */
};

/* Make it. CONFIG: what cannot be read; SYSTEM: there is no randomness. */
int pem_issue(struct arena *a, const struct pem_order *o, const char **ret,
	      struct err *e) must_check;
/* The first certificate of a checked text, written anew without the text around it; NULL: there is none. */
const char *pem_first(struct arena *a, const char *text);
/* A private key that is wrapped as PKCS#8 in its algorithm's own form, PKCS#1 or SEC 1; another text as it is. */
const char *pem_own_form(struct arena *a, const char *text);
/* A copy that ends in a newline, so that such texts can be joined; NULL for NULL. */
const char *pem_lines(struct arena *a, const char *text);
