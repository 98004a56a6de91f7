#include "nodeup/config/private_key.h"

#include <openssl/asn1t.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>
#include "nodeup/base/str.h"
#include "nodeup/config/pem_block.h"
#include "nodeup/config/rsa.h"

void private_key_free(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

static void free_numbers(ASN1_SEQUENCE_ANY *all)
{
	for (int i = 0; i < sk_ASN1_TYPE_num(all); i++) {
		const ASN1_TYPE *part = sk_ASN1_TYPE_value(all, i);

		if (part->type == V_ASN1_INTEGER)
			OPENSSL_cleanse(part->value.integer->data,
					(size_t)part->value.integer->length);
	}
	sk_ASN1_TYPE_pop_free(all, ASN1_TYPE_free);
}

/* Reads an RSA key. The key's numbers follow the version number. */
static EVP_PKEY *read_rsa(const unsigned char *der, long n)
{
	ASN1_SEQUENCE_ANY *all = d2i_ASN1_SEQUENCE_ANY(NULL, &der, n);
	BIGNUM *v[RSA_PARTS] = { NULL };
	bool ok = sk_ASN1_TYPE_num(all) == 1 + RSA_PARTS;
	EVP_PKEY *key;

	for (int i = 0; i < RSA_PARTS && ok; i++) {
		const ASN1_TYPE *part = sk_ASN1_TYPE_value(all, 1 + i);

		v[i] = part->type == V_ASN1_INTEGER ? ASN1_INTEGER_to_BN(part->value.integer, NULL)
						    : NULL;
		ok = v[i] != NULL;
	}
	key = ok ? rsa_assemble(v) : NULL;
	for (int i = 0; i < RSA_PARTS; i++)
		BN_clear_free(v[i]);
	free_numbers(all);
	return key;
}

/* Reads PKCS#8, which names the key's algorithm. */
static EVP_PKEY *read_wrapped(const unsigned char *der, long n)
{
	PKCS8_PRIV_KEY_INFO *wrapped = d2i_PKCS8_PRIV_KEY_INFO(NULL, &der, n);
	const ASN1_OBJECT *algorithm;
	const unsigned char *inner;
	EVP_PKEY *key = NULL;
	int length;

	if (wrapped && PKCS8_pkey_get0(&algorithm, &inner, &length, NULL, wrapped) == 1)
		key = OBJ_obj2nid(algorithm) == NID_rsaEncryption ? read_rsa(inner, length)
								  : EVP_PKCS82PKEY(wrapped);
	PKCS8_PRIV_KEY_INFO_free(wrapped);
	return key;
}

EVP_PKEY *private_key_read(const char *text)
{
	autobio *bio = pem_open(text);
	autopem b = { 0 };
	const unsigned char *der;
	bool found = false;

	while (!found && pem_next(bio, &b))
		found = str_has_suffix(b.label, "PRIVATE KEY");
	if (!found || *b.headers)
		return NULL;
	der = b.der;
	if (strcmp(b.label, PEM_STRING_PKCS8INF) == 0)
		return read_wrapped(b.der, b.n);
	if (strcmp(b.label, PEM_STRING_RSA) == 0)
		return read_rsa(b.der, b.n);
	return strcmp(b.label, PEM_STRING_ECPRIVATEKEY) == 0
		       ? d2i_PrivateKey(EVP_PKEY_EC, NULL, &der, b.n)
		       : NULL;
}

/* Returns whether a * b = 1 modulo m; less_one: modulo m - 1, as for a prime's exponents. */
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

bool private_key_is_sound(const EVP_PKEY *key)
{
	BIGNUM *v[RSA_PARTS] = { NULL };
	BN_CTX *ctx = BN_CTX_new();
	bool ok = ctx != NULL;

	for (size_t i = 0; i < RSA_PARTS && ok; i++)
		ok = EVP_PKEY_get_bn_param(key, rsa_names[i], &v[i]) == 1;
	ok = ok && is_product(v[RSA_P], v[RSA_Q], v[RSA_N], ctx) &&
	     is_inverse(v[RSA_E], v[RSA_DP], v[RSA_P], true, ctx) &&
	     is_inverse(v[RSA_E], v[RSA_DQ], v[RSA_Q], true, ctx) &&
	     is_inverse(v[RSA_E], v[RSA_D], v[RSA_P], true, ctx) &&
	     is_inverse(v[RSA_E], v[RSA_D], v[RSA_Q], true, ctx) &&
	     is_inverse(v[RSA_Q], v[RSA_QINV], v[RSA_P], false, ctx);
	for (size_t i = 0; i < RSA_PARTS; i++)
		BN_clear_free(v[i]);
	BN_CTX_free(ctx);
	return ok;
}

const char *private_key_text(struct arena *a, const EVP_PKEY *key)
{
	autobio *bio = BIO_new(BIO_s_mem());

	return bio && PEM_write_bio_PrivateKey_traditional(bio, key, NULL, NULL, 0, NULL, NULL) == 1
		       ? pem_text(a, bio)
		       : NULL;
}
