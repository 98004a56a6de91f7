#include "nodeup/config/pem.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"
#include "nodeup/config/pem_block.h"
#include "nodeup/config/private_key.h"
#include "nodeup/config/rsa.h"

static void free_certificate(X509 **cert)
{
	X509_free(*cert);
}

#define autocert __attribute__((cleanup(free_certificate))) X509

/* Returns the next block called CERTIFICATE; skips all others, as Go's programs do. */
static X509 *next_certificate(BIO *bio)
{
	autopem b = { 0 };
	X509 *cert = NULL;
	bool found = false, is_whole;

	while (!found && pem_next(bio, &b))
		found = strcmp(b.label, PEM_STRING_X509) == 0;
	cert = found ? certificate_of(b.der, b.n, &is_whole) : NULL;
	if (cert && !is_whole) {
		X509_free(cert);
		cert = NULL;
	}
	return cert;
}

static X509 *read_first(const char *text)
{
	autobio *bio = pem_open(text);

	return next_certificate(bio);
}

static int is_damaged(const char *what, size_t before, struct err *e)
{
	return before ? err_config(e, "the %s behind the first %zu is damaged", what, before)
		      : err_config(e, "the %s is damaged", what);
}

/* Keeps the first certificate. Go's programs skip blocks with other names or with headers. */
static int check_block(const struct pem_block *b, size_t before, X509 **first, struct err *e)
{
	const bool is_named = strcmp(b->label, PEM_STRING_X509) == 0;
	bool is_whole;
	autocert *cert = certificate_of(b->der, b->n, &is_whole);

	if (cert && !is_named)
		return err_config(e, "a certificate that is called '%.40s'", b->label);
	if (is_named && (!cert || !is_whole || *b->headers))
		return is_damaged("certificate", before, e);
	if (!*first) {
		*first = cert;
		cert = NULL;
	}
	return 0;
}

/* Checks all certificates and gives the first one. */
static int read_certificates(const char *text, X509 **ret_first, struct err *e)
{
	autobio *bio = pem_open(text);
	autopem b = { 0 };
	size_t n = 0;
	int r = 0;

	for (; r == 0 && pem_next(bio, &b); n++)
		r = check_block(&b, n, ret_first, e);
	if (r == 0 && n < pem_count(text))
		r = is_damaged("certificate", n, e);
	ERR_clear_error();
	return r < 0 || *ret_first ? r : err_config(e, "no PEM certificate");
}

int pem_check_certificate(const char *text, struct err *e)
{
	autocert *first = NULL;

	return read_certificates(text, &first, e);
}

X509_STORE *pem_roots(const char *text)
{
	autobio *bio = pem_open(text);
	X509_STORE *roots = X509_STORE_new();
	X509 *cert;

	while ((cert = next_certificate(bio))) {
		if (!roots || X509_STORE_add_cert(roots, cert) != 1)
			abort();
		X509_free(cert);
	}
	ERR_clear_error();
	return roots;
}

void pem_free_roots(X509_STORE *roots)
{
	X509_STORE_free(roots);
}

/* Tries first the form that kops writes, since each failed try takes OpenSSL 3 long. source: client-go util/keyutil
 * ParsePublicKeysPEM, which tries every form on each block, whatever its name */
static bool has_public_key(const struct pem_block *b)
{
	const unsigned char *der[] = { b->der, b->der, b->der };
	EVP_PKEY *key = d2i_PUBKEY(NULL, &der[0], b->n);
	bool is_whole;
	autocert *cert = key ? NULL : certificate_of(b->der, b->n, &is_whole);

	if (!key && !cert)
		key = d2i_PublicKey(EVP_PKEY_RSA, NULL, &der[1], b->n);
	if (!key && !cert)
		key = d2i_AutoPrivateKey(NULL, &der[2], b->n);
	EVP_PKEY_free(key);
	return key || cert;
}

int pem_check_public_keys(const char *text, struct err *e)
{
	autobio *bio = pem_open(text);
	autopem b = { 0 };
	size_t n = 0, keys = 0;
	int r = 0;

	for (; r == 0 && pem_next(bio, &b); n++) {
		const bool is_key = has_public_key(&b);

		if (!is_key && str_has_suffix(b.label, "KEY"))
			r = is_damaged("public key", n, e);
		keys += is_key;
	}
	if (r == 0 && n < pem_count(text))
		r = is_damaged("public key", n, e);
	ERR_clear_error();
	return r < 0 || keys ? r : err_config(e, "no PEM public key");
}

int pem_check_key(const char *text, const char *certificate, struct err *e)
{
	autocert *cert = NULL;
	autokey *key = NULL;
	bool is_pair, is_whole;

	if (read_certificates(certificate, &cert, e) < 0) {
		e->errnum = PEM_CERTIFICATE;
		return err_code(e);
	}
	if (!strstr(text, "PRIVATE KEY-----"))
		return err_config(e, "no PEM private key");
	if (strstr(text, "BEGIN ENCRYPTED") || strstr(text, "4,ENCRYPTED"))
		return err_config(e, "the private key is encrypted, and no person is here to "
				     "type a password");
	key = private_key_read(text);
	is_pair = key && X509_check_private_key(cert, key) == 1;
	is_whole = key && (!EVP_PKEY_is_a(key, "RSA") || private_key_is_sound(key));
	ERR_clear_error();
	if (!is_whole)
		return err_config(e, "the private key is damaged");
	return is_pair ? 0 : err_config(e, "the private key is not the certificate's");
}

int pem_new_key(struct arena *a, const char **ret_private, const char **ret_public, struct err *e)
{
	/* only keeps OpenSSL from reading the host's openssl.cnf */
	autobio *none = pem_open("");
	autobio *public = BIO_new(BIO_s_mem());
	autokey *key = rsa_new_key();
	unsigned char *der = NULL;
	const int n = key ? i2d_PUBKEY(key, &der) : -1;
	const bool ok = n > 0 && public && PEM_write_bio(public, "RSA PUBLIC KEY", "", der, n) > 0;

	(void)none;
	OPENSSL_free(der);
	ERR_clear_error();
	*ret_private = ok ? private_key_text(a, key) : NULL;
	if (!*ret_private)
		return err_fail(e, ERR_SYSTEM, EIO, "make a private key");
	*ret_public = pem_text(a, public);
	return 0;
}

static bool has_serial(const X509 *cert, const char *id)
{
	BIGNUM *serial = ASN1_INTEGER_to_BN(X509_get0_serialNumber(cert), NULL), *wanted = NULL;
	const bool has = serial && BN_dec2bn(&wanted, id) > 0 && wanted &&
			 BN_cmp(serial, wanted) == 0;

	BN_free(wanted);
	BN_free(serial);
	return has;
}

static bool is_signed_by(X509 *cert, const X509 *issuer)
{
	return X509_verify(cert, X509_get0_pubkey(issuer)) == 1;
}

/* Returns the certificate with that id; without an id, the certificate that signed `of`. */
static X509 *find_issuer(const char *pool, const char *id, X509 *of)
{
	autobio *bio = pem_open(pool);
	X509 *cert;

	while ((cert = next_certificate(bio))) {
		if (id ? has_serial(cert, id) : of && is_signed_by(of, cert))
			return cert;
		X509_free(cert);
	}
	return NULL;
}

/* Returns OpenSSL's objection to the certificate's chain, dates or usage; NULL: none. */
static const char *fault_of_chain(X509 *cert, X509 *issuer, const struct pem_wanted *want)
{
	X509_STORE *store = X509_STORE_new();
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	const char *fault = "no memory";

	if (store && ctx && X509_STORE_add_cert(store, issuer) == 1 &&
	    X509_STORE_CTX_init(ctx, store, cert, NULL) == 1) {
		X509_VERIFY_PARAM *param = X509_STORE_CTX_get0_param(ctx);

		if (want->time)
			X509_VERIFY_PARAM_set_time(param, (time_t)want->time);
		else
			(void)X509_VERIFY_PARAM_set_flags(param, X509_V_FLAG_NO_CHECK_TIME);
		(void)X509_VERIFY_PARAM_set_purpose(param, want->serves ? X509_PURPOSE_SSL_SERVER
									: X509_PURPOSE_SSL_CLIENT);
		fault = X509_verify_cert(ctx) == 1
				? NULL
				: X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx));
	}
	X509_STORE_CTX_free(ctx);
	X509_STORE_free(store);
	return fault;
}

/* Makes a certificate's subject, O before CN as Go writes it. */
static X509_NAME *new_subject(const char *organization, const char *name)
{
	X509_NAME *subject = X509_NAME_new();
	const char *const parts[][2] = { { "O", organization }, { "CN", name } };

	for (size_t i = 0; subject && i < 2; i++)
		if (parts[i][1] && X509_NAME_add_entry_by_txt(subject, parts[i][0], MBSTRING_UTF8,
							      (const unsigned char *)parts[i][1],
							      -1, -1, 0) != 1) {
			X509_NAME_free(subject);
			return NULL;
		}
	return subject;
}

static GENERAL_NAME *new_host(const char *host)
{
	GENERAL_NAME *name = GENERAL_NAME_new();
	unsigned char address[16];
	ASN1_STRING *value;
	int n = 0;

	if (!name)
		return NULL;
	if (inet_pton(AF_INET, host, address) == 1)
		n = 4;
	else if (inet_pton(AF_INET6, host, address) == 1)
		n = 16;
	value = n ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
	if (!value || ASN1_STRING_set(value, n ? (const void *)address : host, n ? n : -1) != 1) {
		ASN1_STRING_free(value);
		GENERAL_NAME_free(name);
		return NULL;
	}
	GENERAL_NAME_set0_value(name, n ? GEN_IPADD : GEN_DNS, value);
	return name;
}

static bool has_host(const GENERAL_NAMES *all, const GENERAL_NAME *host)
{
	for (int i = 0; i < sk_GENERAL_NAME_num(all); i++)
		if (GENERAL_NAME_cmp(sk_GENERAL_NAME_value(all, i), (GENERAL_NAME *)host) == 0)
			return true;
	return false;
}

/* Lists names before addresses, each once; skips empty texts. source: kops pkg/pki IssueCert */
static GENERAL_NAMES *new_hosts(const char *const *hosts)
{
	GENERAL_NAMES *all = GENERAL_NAMES_new();

	for (int kind = GEN_DNS; all && kind != -1; kind = kind == GEN_DNS ? GEN_IPADD : -1)
		for (const char *const *h = hosts; h && *h; h++) {
			GENERAL_NAME *name;

			if (!**h)
				continue;
			name = new_host(*h);
			if (!name)
				abort();
			if (name->type != kind || has_host(all, name))
				GENERAL_NAME_free(name);
			else if (sk_GENERAL_NAME_push(all, name) <= 0)
				abort();
		}
	return all;
}

/* Returns the first name of `some` that is neither in `all` nor in `more`; NULL: there is no such name. */
static const GENERAL_NAME *first_beyond(const GENERAL_NAMES *some, const GENERAL_NAMES *all,
					const GENERAL_NAMES *more)
{
	for (int i = 0; i < sk_GENERAL_NAME_num(some); i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(some, i);

		if (!has_host(all, name) && !has_host(more, name))
			return name;
	}
	return NULL;
}

/* Shows a name in a message; it may hold any bytes. */
static void show_host(const GENERAL_NAME *host, char *ret, size_t size)
{
	int kind;
	const ASN1_STRING *value = GENERAL_NAME_get0_value(host, &kind);
	const unsigned char *bytes = ASN1_STRING_get0_data(value);
	const int n = ASN1_STRING_length(value);

	if (kind == GEN_IPADD && (n == 4 || n == 16))
		(void)inet_ntop(n == 4 ? AF_INET : AF_INET6, bytes, ret, (socklen_t)size);
	else if (kind == GEN_DNS)
		(void)print_to(ret, size, "%.*s", n, (const char *)bytes);
	else
		(void)print_to(ret, size, "neither a name nor an address");
	for (char *c = ret; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

/* Returns the certificate's names other than the subject. Empty: the certificate has none; NULL: they cannot be
 * read. */
static GENERAL_NAMES *read_hosts(const X509 *cert)
{
	int found;
	GENERAL_NAMES *have = X509_get_ext_d2i(cert, NID_subject_alt_name, &found, NULL);

	return have || found != -1 ? have : GENERAL_NAMES_new();
}

static bool is_empty(const GENERAL_NAME *host)
{
	return host->type == GEN_DNS && ASN1_STRING_length(host->d.dNSName) == 0;
}

static int check_hosts(const X509 *cert, const struct pem_wanted *want, struct err *e)
{
	GENERAL_NAMES *have = read_hosts(cert), *must = new_hosts(want->hosts),
		      *may = new_hosts(want->others);
	const GENERAL_NAME *missing = have ? first_beyond(must, have, NULL) : NULL, *other = NULL;
	char shown[256];
	int r = 0;

	if (have && want->others)
		other = first_beyond(have, must, may);
	if (missing || other)
		show_host(missing ? missing : other, shown, sizeof(shown));
	if (!have)
		r = err_config(e, "the certificate's names cannot be read");
	else if (missing)
		r = err_config(e, "the certificate does not have '%s'", shown);
	else if (other && is_empty(other))
		r = err_config(e, "the certificate has an empty name");
	else if (other)
		r = err_fail(e, ERR_CONFIG, EADDRNOTAVAIL,
			     "the certificate has '%s', which is not this one's", shown);
	GENERAL_NAMES_free(have);
	GENERAL_NAMES_free(must);
	GENERAL_NAMES_free(may);
	return r;
}

/* Compares bytes: OpenSSL's own comparison takes "System:Nodes" for "system:nodes". */
static bool has_part(const X509_NAME *subject, int at, int nid, const char *wanted)
{
	const X509_NAME_ENTRY *entry = X509_NAME_get_entry(subject, at);
	unsigned char *text = NULL;
	const int n = entry && OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry)) == nid
			      ? ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
			      : -1;
	const bool same = n >= 0 && (size_t)n == strlen(wanted) &&
			  memcmp(text, wanted, (size_t)n) == 0;

	OPENSSL_free(text);
	return same;
}

static int check_subject(const X509 *cert, const struct pem_wanted *want, struct err *e)
{
	const X509_NAME *subject = X509_get_subject_name(cert);
	const int before = want->organization ? 1 : 0;
	char *got;

	if (X509_NAME_entry_count(subject) == before + 1 &&
	    has_part(subject, before, NID_commonName, want->name) &&
	    (!before || has_part(subject, 0, NID_organizationName, want->organization)))
		return 0;
	got = X509_NAME_oneline(subject, NULL, 0);
	(void)err_config(e, "the certificate is not for '%s'%s%s", want->name, before ? " of " : "",
			 before ? want->organization : "");
	err_note(e, "want", "%s%sCN=%s", before ? "O=" : "", before ? want->organization : "",
		 want->name);
	err_note(e, "got", "%s", got ? got : "");
	OPENSSL_free(got);
	return err_code(e);
}

/* Returns the fault in the certificate's usage; NULL: the usage is exactly the wanted one. */
static const char *fault_of_usage(X509 *cert, bool serves)
{
	const uint32_t flags = X509_get_extension_flags(cert);
	EXTENDED_KEY_USAGE *usage = X509_get_ext_d2i(cert, NID_ext_key_usage, NULL, NULL);
	const bool is_one = usage && sk_ASN1_OBJECT_num(usage) == 1 &&
			    OBJ_obj2nid(sk_ASN1_OBJECT_value(usage, 0)) ==
				    (serves ? NID_server_auth : NID_client_auth);

	EXTENDED_KEY_USAGE_free(usage);
	if (flags & EXFLAG_CA)
		return "it is that of a CA";
	if (flags & EXFLAG_KUSAGE && X509_get_key_usage(cert) & (KU_KEY_CERT_SIGN | KU_CRL_SIGN))
		return "it may sign others";
	if (!is_one)
		return serves ? "it is not for a server alone" : "it is not for a client alone";
	return NULL;
}

static int64_t unix_of(const ASN1_TIME *time)
{
	struct tm tm;

	return ASN1_TIME_to_tm(time, &tm) == 1 ? timegm(&tm) : 0;
}

static struct pem_life life_of(const X509 *cert, const X509 *issuer)
{
	return (struct pem_life){ .from = unix_of(X509_get0_notBefore(cert)),
				  .until = unix_of(X509_get0_notAfter(cert)),
				  .ca_from = unix_of(X509_get0_notBefore(issuer)),
				  .ca_until = unix_of(X509_get0_notAfter(issuer)) };
}

/* Returns whether more than a third of the certificate's life is left. */
static bool is_fresh(const struct pem_life *life, int64_t time)
{
	return (life->until - time) * 3 > life->until - life->from;
}

/* Uses `<` for the ends: OpenSSL accepts no certificate in its last second. */
bool pem_still_holds(const struct pem_life *life, const struct pem_wanted *want)
{
	const int64_t now = want->time;

	return !now || (now >= life->from && now < life->until && now >= life->ca_from &&
			now < life->ca_until && (!want->fresh || is_fresh(life, now)));
}

bool pem_is_in_time(const char *text, const char *id, int64_t time, int64_t *ret_from,
		    int64_t *ret_until)
{
	autobio *bio = pem_open(text);
	bool is_there = false, is_valid = false;
	X509 *cert;

	while (!is_valid && (cert = next_certificate(bio))) {
		if (!id || has_serial(cert, id)) {
			*ret_from = unix_of(X509_get0_notBefore(cert));
			*ret_until = unix_of(X509_get0_notAfter(cert));
			is_valid = time >= *ret_from && time <= *ret_until;
			is_there = true;
		}
		X509_free(cert);
	}
	ERR_clear_error();
	return is_valid || !is_there;
}

static int check_made(X509 *cert, const struct pem_life *life, const struct pem_wanted *want,
		      struct err *e)
{
	const char *fault = fault_of_usage(cert, want->serves);
	int r = fault ? err_config(e, "the certificate does not hold: %s", fault)
		      : check_subject(cert, want, e);

	if (r == 0 && want->fresh && !is_fresh(life, want->time))
		r = err_config(e, "less than a third of the certificate's life is left");
	return r < 0 ? r : check_hosts(cert, want, e);
}

int pem_check_issued(const char *text, const struct pem_wanted *want, struct pem_life *ret,
		     struct err *e)
{
	autocert *cert = read_first(text);
	autocert *issuer = find_issuer(want->pool, want->issuer_id, cert);
	autokey *key = private_key_read(want->key);
	const bool ours = key && cert && X509_check_private_key(cert, key) == 1;
	const bool is_signed = issuer && cert && (!want->issuer_id || is_signed_by(cert, issuer));
	const char *fault = is_signed ? fault_of_chain(cert, issuer, want) : NULL;
	struct pem_life life = { 0 };
	int r = 0;

	if (is_signed)
		life = life_of(cert, issuer);
	if (!cert)
		r = err_config(e, "no certificate");
	else if (!ours)
		r = err_config(e, "the certificate is for another key than ours");
	else if (!is_signed)
		r = err_config(e, "the certificate is not signed by the CA%s%s",
			       want->issuer_id ? " of id " : "",
			       want->issuer_id ? want->issuer_id : "");
	else if (fault)
		r = err_config(e, "the certificate does not hold: %s", fault);
	else
		r = check_made(cert, &life, want, e);
	if (r == 0)
		*ret = life;
	ERR_clear_error();
	return r;
}

static bool set_usage(X509 *cert, bool serves)
{
	ASN1_BIT_STRING *usage = ASN1_BIT_STRING_new();
	EXTENDED_KEY_USAGE *purpose = EXTENDED_KEY_USAGE_new();
	ASN1_OBJECT *what = OBJ_nid2obj(serves ? NID_server_auth : NID_client_auth);
	BASIC_CONSTRAINTS *limits = BASIC_CONSTRAINTS_new();
	bool ok = usage && purpose && what && limits;

	/* bits by their numbers in RFC 5280: digitalSignature, keyEncipherment */
	ok = ok && ASN1_BIT_STRING_set_bit(usage, 0, 1) == 1 &&
	     (!serves || ASN1_BIT_STRING_set_bit(usage, 2, 1) == 1) &&
	     sk_ASN1_OBJECT_push(purpose, what) > 0 &&
	     X509_add1_ext_i2d(cert, NID_key_usage, usage, 1, 0) == 1 &&
	     X509_add1_ext_i2d(cert, NID_ext_key_usage, purpose, 0, 0) == 1 &&
	     X509_add1_ext_i2d(cert, NID_basic_constraints, limits, 1, 0) == 1;
	ASN1_BIT_STRING_free(usage);
	EXTENDED_KEY_USAGE_free(purpose);
	BASIC_CONSTRAINTS_free(limits);
	return ok;
}

static bool set_names(X509 *cert, const struct pem_order *o)
{
	X509_NAME *subject = new_subject(o->organization, o->name);
	GENERAL_NAMES *hosts = new_hosts(o->hosts);
	bool ok = subject && hosts && X509_set_subject_name(cert, subject) == 1;

	if (ok && sk_GENERAL_NAME_num(hosts) > 0)
		ok = X509_add1_ext_i2d(cert, NID_subject_alt_name, hosts, 0, 0) == 1;
	X509_NAME_free(subject);
	GENERAL_NAMES_free(hosts);
	return ok;
}

static bool set_issuer(X509 *cert, X509 *signer)
{
	const ASN1_OCTET_STRING *id = X509_get0_subject_key_id(signer);
	AUTHORITY_KEYID *which = AUTHORITY_KEYID_new();
	bool ok = which && X509_set_issuer_name(cert, X509_get_subject_name(signer)) == 1;

	if (ok && id) {
		which->keyid = ASN1_OCTET_STRING_dup(id);
		ok = which->keyid &&
		     X509_add1_ext_i2d(cert, NID_authority_key_identifier, which, 0, 0) == 1;
	}
	AUTHORITY_KEYID_free(which);
	return ok;
}

static bool set_serial(X509 *cert)
{
	BIGNUM *serial = BN_new();
	const bool ok = serial && BN_rand(serial, 128, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
			BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert)) != NULL;

	BN_free(serial);
	return ok;
}

static const char *certificate_text(struct arena *a, X509 *cert)
{
	autobio *bio = BIO_new(BIO_s_mem());

	return bio && PEM_write_bio_X509(bio, cert) == 1 ? pem_text(a, bio) : NULL;
}

/* source: kops 1.37 pkg/pki IssueCert, with what Go's x509.CreateCertificate adds */
int pem_issue(struct arena *a, const struct pem_order *o, const char **ret, struct err *e)
{
	autocert *signer = read_first(o->signer), *cert = X509_new();
	autokey *signer_key = private_key_read(o->signer_key), *key = private_key_read(o->key);
	bool ok = cert != NULL;

	*ret = NULL;
	if (!signer || !signer_key || !key) {
		ERR_clear_error();
		return err_config(e, "certificate '%s': what is to sign it cannot be read",
				  o->name);
	}
	ok = ok && X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
	     set_issuer(cert, signer) && set_names(cert, o) && set_usage(cert, o->serves) &&
	     ASN1_TIME_set(X509_getm_notBefore(cert), (time_t)o->from) &&
	     ASN1_TIME_set(X509_getm_notAfter(cert), (time_t)o->until) &&
	     X509_set_pubkey(cert, key) == 1 && X509_sign(cert, signer_key, EVP_sha256()) > 0;
	if (ok)
		*ret = certificate_text(a, cert);
	ERR_clear_error();
	return *ret ? 0 : err_fail(e, ERR_SYSTEM, EIO, "issue the certificate '%s'", o->name);
}

const char *pem_name(struct arena *a, const char *text)
{
	autocert *cert = read_first(text);
	const X509_NAME *subject = cert ? X509_get_subject_name(cert) : NULL;
	const int at = subject ? X509_NAME_get_index_by_NID(subject, NID_commonName, -1) : -1;
	unsigned char *name = NULL;
	const int n =
		at < 0 ? -1
		       : ASN1_STRING_to_UTF8(
				 &name, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
	const char *ret = n < 0 ? NULL : arena_strn(a, (const char *)name, (size_t)n);

	OPENSSL_free(name);
	ERR_clear_error();
	return ret;
}

const char *pem_first(struct arena *a, const char *text)
{
	autocert *cert = read_first(text);

	ERR_clear_error();
	return cert ? certificate_text(a, cert) : NULL;
}

const char *pem_own_form(struct arena *a, const char *text)
{
	autokey *key = strstr(text, "BEGIN " PEM_STRING_PKCS8INF "-----") ? private_key_read(text)
									  : NULL;
	const char *own = key ? private_key_text(a, key) : NULL;

	ERR_clear_error();
	return own ? own : text;
}

const char *pem_lines(struct arena *a, const char *text)
{
	return !text || str_has_suffix(text, "\n") ? arena_str(a, text)
						   : arena_printf(a, "%s\n", text);
}
