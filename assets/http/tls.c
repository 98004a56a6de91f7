#include "assets/http/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdbool.h>

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

void http_tls_arm(void *ssl_ctx)
{
	SSL_CTX_set_verify(ssl_ctx, SSL_VERIFY_PEER, on_certificate);
}
