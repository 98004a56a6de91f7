#include "assets/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>
#include <stdlib.h>
#include "nodeup/base/mem.h"

struct http_trust {
	X509_STORE
	*folder; /* OpenSSL looks up single roots in it; NULL: there is only the bundle */
	X509_STORE *bundle; /* stays empty until a server comes whose root the folder lacks */
	const char *bundle_path;
	bool has_bundle; /* the bundle was read */
};

/* Returns whether the certificate's subjectAltName names a host or an address. */
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

/* Returns whether a root of the folder vouches for the chain that `chain` is about to verify. *ret_verdict is the
 * folder's verdict. Uses a context of its own, as a context can verify only once. */
static bool is_known_by_folder(const struct http_trust *t, X509_STORE_CTX *chain, int *ret_verdict)
{
	X509_STORE_CTX *probe = X509_STORE_CTX_new();
	bool known;

	if (!probe || !X509_STORE_CTX_init(probe, t->folder, X509_STORE_CTX_get0_cert(chain),
					   X509_STORE_CTX_get0_untrusted(chain)))
		abort();
	if (!X509_VERIFY_PARAM_set1(X509_STORE_CTX_get0_param(probe),
				    X509_STORE_CTX_get0_param(chain)))
		abort();
	X509_STORE_CTX_set_verify_cb(probe, on_certificate);
	known = X509_verify_cert(probe) > 0;
	*ret_verdict = X509_STORE_CTX_get_error(probe);
	if (known) {
		X509_STORE_CTX_set_error(chain, X509_V_OK);
		X509_STORE_CTX_set0_verified_chain(chain, X509_STORE_CTX_get1_chain(probe));
	}
	X509_STORE_CTX_free(probe);
	return known;
}

/* Returns whether the verdict says that these roots do not know the chain. */
static bool is_unknown(int verdict)
{
	return verdict == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT ||
	       verdict == X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY ||
	       verdict == X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT ||
	       verdict == X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN ||
	       verdict == X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE ||
	       verdict == HTTP_TLS_NO_BUNDLE;
}

static bool is_known_by_bundle(struct http_trust *t, X509_STORE_CTX *chain)
{
	if (!t->has_bundle)
		t->has_bundle = X509_STORE_load_file(t->bundle, t->bundle_path);
	if (!t->has_bundle)
		X509_STORE_CTX_set_error(chain, HTTP_TLS_NO_BUNDLE);
	return t->has_bundle && X509_verify_cert(chain) > 0;
}

/* Replaces OpenSSL's own verification. The folder may be out of date, so the bundle is asked if the folder does not
 * accept the chain. */
static int verify_chain(X509_STORE_CTX *chain, void *arg)
{
	int verdict;
	const bool known = is_known_by_folder(arg, chain, &verdict) ||
			   is_known_by_bundle(arg, chain);

	if (!known && is_unknown(X509_STORE_CTX_get_error(chain)) && !is_unknown(verdict))
		X509_STORE_CTX_set_error(chain, verdict);
	/* drops older errors, since curl takes the oldest error for the reason */
	ERR_clear_error();
	return known;
}

/* As in curl's own store, a chain may end in any trusted certificate. */
static X509_STORE *set_up(X509_STORE *s)
{
	if (!s || !X509_STORE_set_flags(s, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN))
		abort();
	return s;
}

struct http_trust *http_trust_of(X509_STORE *roots)
{
	struct http_trust *t = xcalloc(1, sizeof(*t));

	t->bundle = set_up(roots);
	if (!X509_STORE_up_ref(roots))
		abort();
	return t;
}

struct http_trust *http_trust_new(const char *bundle, const char *folder)
{
	struct http_trust *t = xcalloc(1, sizeof(*t));

	t->bundle_path = bundle;
	t->bundle = set_up(X509_STORE_new());
	t->folder = set_up(X509_STORE_new());
	if (!X509_STORE_load_path(t->folder, folder))
		abort();
	return t;
}

void http_trust_free(struct http_trust *t)
{
	if (!t)
		return;
	X509_STORE_free(t->folder);
	X509_STORE_free(t->bundle);
	free(t);
}

void http_tls_arm(void *ssl_ctx, struct http_trust *t)
{
	SSL_CTX_set_verify(ssl_ctx, SSL_VERIFY_PEER, on_certificate);
	if (!t)
		return;
	SSL_CTX_set1_cert_store(ssl_ctx, t->bundle);
	if (t->folder)
		SSL_CTX_set_cert_verify_callback(ssl_ctx, verify_chain, t);
}
