/* tls.h - what curl does not ask of a certificate
 * curl takes the common name for the host's when a certificate names no host in its subjectAltName.
 * Browsers and Go stopped that long ago, because authorities do not check such a name: so here.
 * Owner: curl's SSL_CTX. Errors: OpenSSL's verdict, HTTP_TLS_NAMELESS. Threads: the net thread.
 * Source: RFC 6125 6.4.4, RFC 9525 2. */
#pragma once

enum { HTTP_TLS_NAMELESS = 50 }; /* X509_V_ERR_APPLICATION_VERIFICATION */

/* Let handshakes of this SSL_CTX fail for a certificate that names neither a host nor an address. */
void http_tls_arm(void *ssl_ctx);
