#include "nodeup/config/pem.h"

#include <limits.h>
#include <openssl/bn.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/str.h"

static void free_bio(BIO **bio)
{
	BIO_free_all(*bio);
}

static void free_certificate(X509 **cert)
{
	X509_free(*cert);
}

static void free_key(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

#define autobio __attribute__((cleanup(free_bio))) BIO
#define autocert __attribute__((cleanup(free_certificate))) X509
#define autokey __attribute__((cleanup(free_key))) EVP_PKEY

static BIO *open_text(const char *text)
{
	const size_t n = strlen(text);
	BIO *bio = NULL;

	/* openssl.cnf of the host may name engines and providers that a static binary cannot load */
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) == 1 && n <= INT_MAX)
		bio = BIO_new_mem_buf(text, (int)n);
	if (!bio)
		abort();
	return bio;
}

/* A BEGIN and an END line of that kind ("CERTIFICATE", "PRIVATE KEY" of any sort). */
static bool has_block(const char *text, const char *kind)
{
	const char *begin = strstr(text, "-----BEGIN "), *end;
	size_t n;

	if (!begin)
		return false;
	begin += strlen("-----BEGIN ");
	n = strcspn(begin, "\r\n");
	if (n < strlen(kind) + 5 || strncmp(begin + n - 5, "-----", 5) != 0 ||
	    strncmp(begin + n - 5 - strlen(kind), kind, strlen(kind)) != 0)
		return false;
	end = strstr(begin, "-----END ");
	return end && strncmp(end + strlen("-----END "), begin, n) == 0;
}

/* At boot there is no person to type a password. */
static int no_password(char *buf, int size, int for_writing, void *arg)
{
	(void)buf;
	(void)size;
	(void)for_writing;
	(void)arg;
	return -1;
}

static X509 *read_certificate(const char *text)
{
	autobio *bio = open_text(text);

	return PEM_read_bio_X509(bio, NULL, no_password, NULL);
}

int pem_check_certificate(const char *text, struct err *e)
{
	autocert *cert = NULL;

	if (!has_block(text, "CERTIFICATE"))
		return err_config(e, "no PEM certificate");
	cert = read_certificate(text);
	ERR_clear_error();
	return cert ? 0 : err_config(e, "the certificate is damaged");
}

/* Numbers of an RSA key, by OpenSSL's names. */
enum { N, E, D, P, Q, DP, DQ, QINV, NUMBERS };
static const char *const names[NUMBERS] = {
	[N] = "n",
	[E] = "e",
	[D] = "d",
	[P] = "rsa-factor1",
	[Q] = "rsa-factor2",
	[DP] = "rsa-exponent1",
	[DQ] = "rsa-exponent2",
	[QINV] = "rsa-coefficient1",
};

/* a * b = 1 modulo m, and where that is what a prime's exponents do, modulo m - 1. */
static bool is_inverse(const BIGNUM *a, const BIGNUM *b, const BIGNUM *m, bool less_one,
		       BN_CTX *ctx)
{
	BIGNUM *modulus = BN_dup(m), *r = BN_new();
	const bool ok = modulus && r && (!less_one || BN_sub_word(modulus, 1)) &&
			BN_mod_mul(r, a, b, modulus, ctx) && BN_is_one(r);

	BN_free(r);
	BN_free(modulus);
	return ok;
}

static bool is_product(const BIGNUM *a, const BIGNUM *b, const BIGNUM *product, BN_CTX *ctx)
{
	BIGNUM *r = BN_new();
	const bool ok = r && BN_mul(r, a, b, ctx) && BN_cmp(r, product) == 0;

	BN_free(r);
	return ok;
}

/* A bit that flipped in one of them still leaves a key, with which nothing can be signed. Only for
 * RSA, which is all that kops makes. */
static bool is_sound(const EVP_PKEY *key)
{
	BIGNUM *v[NUMBERS] = { NULL };
	BN_CTX *ctx = BN_CTX_new();
	bool ok = ctx != NULL;

	for (size_t i = 0; i < NUMBERS && ok; i++)
		ok = EVP_PKEY_get_bn_param(key, names[i], &v[i]) == 1;
	ok = ok && is_product(v[P], v[Q], v[N], ctx) && is_inverse(v[E], v[DP], v[P], true, ctx) &&
	     is_inverse(v[E], v[DQ], v[Q], true, ctx) && is_inverse(v[E], v[D], v[P], true, ctx) &&
	     is_inverse(v[E], v[D], v[Q], true, ctx) && is_inverse(v[Q], v[QINV], v[P], false, ctx);
	for (size_t i = 0; i < NUMBERS; i++)
		BN_clear_free(v[i]);
	BN_CTX_free(ctx);
	return ok;
}

int pem_check_key(const char *text, const char *certificate, struct err *e)
{
	autocert *cert = NULL;
	autokey *key = NULL;
	autobio *bio = NULL;
	bool is_pair, is_whole;

	if (!has_block(text, "PRIVATE KEY"))
		return err_config(e, "no PEM private key");
	if (strstr(text, "BEGIN ENCRYPTED") || strstr(text, "4,ENCRYPTED"))
		return err_config(e, "the private key is encrypted, and no person is here to "
				     "type a password");
	bio = open_text(text);
	key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
	cert = read_certificate(certificate);
	is_pair = key && cert && X509_check_private_key(cert, key) == 1;
	is_whole = key && (!EVP_PKEY_is_a(key, "RSA") || is_sound(key));
	ERR_clear_error();
	if (!is_whole)
		return err_config(e, "the private key is damaged");
	return is_pair ? 0 : err_config(e, "the private key is not the certificate's");
}

const char *pem_lines(struct arena *a, const char *text)
{
	return !text || str_has_suffix(text, "\n") ? arena_str(a, text)
						   : arena_printf(a, "%s\n", text);
}
