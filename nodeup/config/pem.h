/* pem.h - checks and makes certificates and keys of the state store
 * The store's texts go to the node unchanged. Messages show only the names of blocks and, of an issued certificate,
 * its names; they show nothing else of the texts.
 * Owner: nothing is kept. Errors: CONFIG, without the place, which the caller knows. Threads: all.
 * Source: kops 1.8.1 pkg/pki (which refuses only what it cannot parse).
 * Tests: test_pem.c. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"

struct x509_store_st;

/* Fails unless text holds X.509 certificates and every certificate block in it is valid. Does not check when
 * certificates end. */
int pem_check_certificate(const char *text, struct err *e) must_check;
/* Returns the certificates of a checked text, for verifying servers. The certificates are shared with the check:
 * nobody may change them. */
struct x509_store_st *pem_roots(const char *text);
void pem_free_roots(struct x509_store_st *roots);
/* Fails unless text holds public keys in a form that kube-apiserver accepts. kube-apiserver also takes public keys
 * out of private keys and certificates. */
int pem_check_public_keys(const char *text, struct err *e) must_check;
/* Fails unless text holds a private key without a password that belongs to the certificate. errnum PEM_CERTIFICATE:
 * the certificate itself is not valid. */
enum { PEM_CERTIFICATE = EBADMSG };
int pem_check_key(const char *text, const char *certificate, struct err *e) must_check;
/* Makes an RSA key of 2048 bits. The private text is PKCS#1. The public text has the form that kops-controller
 * reads: named as PKCS#1, with the bytes of PKIX. SYSTEM: there is no randomness. */
int pem_new_key(struct arena *a, const char **ret_private, const char **ret_public,
		struct err *e) must_check;
/* Demands on an issued certificate. Besides, the certificate must not be a CA's, must not sign others, and must have
 * exactly one usage. */
struct pem_wanted {
	const char *key;       /* the private key that the certificate must fit */
	const char *pool;      /* certificates of the CA, all generations */
	const char *issuer_id; /* decimal serial number of the signer; NULL: any */
	const char *name,
		*organization; /* its subject must have only CN and O; organization NULL: only CN */
	/* hosts: names and addresses that the certificate must have; NULL: none. others: further names and addresses
	 * that it may have; NULL: any. Both lists end with NULL; empty texts in them are ignored */
	const char *const *hosts, *const *others;
	bool serves; /* true: for a server; false: for a client */
	int64_t time; /* seconds since 1970; 0: dates are not checked, neither of the certificate nor of its CA */
	bool fresh; /* more than a third of its life must be left */
};

/* The times between which a certificate is valid, and those of its CA, in seconds since 1970. */
struct pem_life {
	int64_t from, until, ca_from, ca_until;
};

/* Checks the first certificate of a text against the demands. Fails with CONFIG; EADDRNOTAVAIL: the only fault is a
 * name that is neither in `hosts` nor in `others`. */
int pem_check_issued(const char *text, const struct pem_wanted *want, struct pem_life *ret,
		     struct err *e) must_check;
/* Returns whether a certificate with this life, which passed an earlier check, would pass it now for `want`. Only
 * `time` and `fresh` may differ from the earlier check. */
bool pem_still_holds(const struct pem_life *life, const struct pem_wanted *want);
/* Returns whether a certificate of the text (or the one with that serial number) is valid at a time, in seconds
 * since 1970. If no certificate is valid, gives the times between which the last certificate is valid. True if there
 * is no certificate to check. */
bool pem_is_in_time(const char *text, const char *id, int64_t time, int64_t *ret_from,
		    int64_t *ret_until);
/* The parts of a certificate to make. The certificate's usage is a server's or a client's, and its serial number has
 * 128 random bits. */
struct pem_order {
	const char *key;                 /* the private key for which the certificate is made */
	const char *signer, *signer_key; /* certificate and private key of the CA */
	const char *name, *organization; /* CN and O of its subject; organization NULL: none */
	const char *const *hosts;        /* as in pem_wanted; a text that is no address is a name */
	bool serves;                     /* true: for a server; false: for a client */
	int64_t from, until;             /* seconds since 1970 */
};

/* Makes the certificate. CONFIG: a part cannot be read; SYSTEM: there is no randomness. */
int pem_issue(struct arena *a, const struct pem_order *o, const char **ret,
	      struct err *e) must_check;
/* Returns the common name of the first certificate; NULL: it has none. */
const char *pem_name(struct arena *a, const char *text);
/* Returns the first certificate of a checked text, without other text around it; NULL: there is none. */
const char *pem_first(struct arena *a, const char *text);
/* Turns a private key from PKCS#8 into its algorithm's own form, PKCS#1 or SEC 1. Returns other texts unchanged. */
const char *pem_own_form(struct arena *a, const char *text);
/* Returns a copy that ends in a newline, so that such texts can be joined; NULL for NULL. */
const char *pem_lines(struct arena *a, const char *text);
