#include "assets/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdlib.h>
#include "nodeup/base/mem.h"

struct http_trust {
	X509_STORE *store;
	X509_LOOKUP_METHOD *method;
	const char *bundle;
	bool has_bundle; /* it was read into the store */
};

/* Whether its subjectAltName names a host or an address. */
static bool names_hosts(const X509 *certificate)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(certificate, NID_subject_alt_name, NULL, NULL);
	bool found = false;

	for (int i = 0; i < sk_GENERAL_NAME_num(names) && !found; i++) {
		const int type = sk_GENERAL_NAME_value(names, i)->type;

		found = type == GEN_DNS || type == GEN_IPADD;
	}
	GENERAL_NAMES_free(names);
	return found;
}

static int on_certificate(int ok, X509_STORE_CTX *chain)
{
	if (!ok || X509_STORE_CTX_get_error_depth(chain) > 0 ||
	    names_hosts(X509_STORE_CTX_get_current_cert(chain)))
		return ok;
	X509_STORE_CTX_set_error(chain, HTTP_TLS_NAMELESS);
	return 0;
}

/* Called for an issuer that neither the store has nor the folder. OpenSSL asks what is in the store once more only if it
 * gets it from here. */
static int find_in_bundle(X509_LOOKUP *lookup, X509_LOOKUP_TYPE type, const X509_NAME *name,
			  X509_OBJECT *ret)
{
	struct http_trust *t = X509_LOOKUP_get_method_data(lookup);
	X509_OBJECT *found;
	X509 *root;

	if (type != X509_LU_X509 || t->has_bundle)
		return 0;
	t->has_bundle = true;
	/* a bundle that cannot be read leaves the issuer unknown, which is the verdict then */
	(void)X509_STORE_load_file(t->store, t->bundle);
	ERR_clear_error();
	found = X509_OBJECT_retrieve_by_subject(X509_STORE_get0_objects(t->store), type, name);
	root = found ? X509_OBJECT_get0_X509(found) : NULL;
	if (!root || !X509_OBJECT_set1_X509(ret, root))
		return 0;
	/* OpenSSL takes a reference of its own to what it gets, and lets the store keep the other */
	X509_free(root);
	return 1;
}

struct http_trust *http_trust_new(const char *bundle, const char *folder)
{
	struct http_trust *t = xcalloc(1, sizeof(*t));
	X509_LOOKUP *lookup;

	t->bundle = bundle;
	t->store = X509_STORE_new();
	t->method = X509_LOOKUP_meth_new("bundle");
	if (!t->store || !t->method ||
	    !X509_LOOKUP_meth_set_get_by_subject(t->method, find_in_bundle) ||
	    !X509_STORE_load_path(t->store, folder))
		abort();
	lookup = X509_STORE_add_lookup(t->store, t->method);
	if (!lookup || !X509_LOOKUP_set_method_data(lookup, t))
		abort();
	/* as curl sets it for its own: a chain may end in any certificate that is trusted */
	(void)X509_STORE_set_flags(t->store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
	return t;
}

void http_trust_free(struct http_trust *t)
{
	if (!t)
		return;
	X509_STORE_free(t->store);
	X509_LOOKUP_meth_free(t->method);
	free(t);
}

void http_tls_arm(void *ssl_ctx, struct http_trust *t)
{
	SSL_CTX_set_verify(ssl_ctx, SSL_VERIFY_PEER, on_certificate);
	if (t)
		SSL_CTX_set1_cert_store(ssl_ctx, t->store);
}
