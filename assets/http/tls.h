/* tls.h - checks a certificate where curl does not, and looks up roots as curl does not
 * If a certificate names no host in its subjectAltName, curl takes the common name for the host's name. Browsers and
 * Go ignore common names now, because authorities do not check such a name. So such a certificate is refused here
 * too. curl reads all roots of a bundle before the first handshake, which takes 25 ms of a processor. Here a chain
 * is verified first by a folder, in which a root is looked up by its hash. If no root of the folder vouches for the
 * chain, the bundle is read and has the last word. Bundle and folder belong to root, and are OpenSSL's own defaults.
 * So a certificate that only the folder has counts as well.
 * Owner: curl's SSL_CTX; a trust is the caller's. Errors: OpenSSL's verdict, HTTP_TLS_NAMELESS. Threads: the net
 * thread.
 * Source: RFC 6125 6.4.4, RFC 9525 2; SSL_CTX_set_cert_verify_callback(3), openssl-rehash(1).
 * Tests: test_http.c. */
#pragma once

enum {
	HTTP_TLS_NAMELESS = 50,  /* X509_V_ERR_APPLICATION_VERIFICATION */
	HTTP_TLS_NO_BUNDLE = 70, /* X509_V_ERR_STORE_LOOKUP */
};

struct http_trust;
struct x509_store_st;

/* Uses these roots, and takes a reference to them. */
struct http_trust *http_trust_of(struct x509_store_st *roots);
/* Uses the roots of a bundle and of a folder. The strings must stay. */
struct http_trust *http_trust_new(const char *bundle, const char *folder);
void http_trust_free(struct http_trust *t);
/* Makes handshakes of this SSL_CTX fail if the certificate names neither a host nor an address. t has the roots that
 * verify certificates, and must outlive the SSL_CTX. If t is NULL, curl's own roots verify them. */
void http_tls_arm(void *ssl_ctx, struct http_trust *t);
