#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/config/rsa.h"
#include "tests/unit/lib/repeats.h"

enum { ROUNDS = 64 }; /* as BN_check_prime */

static BIGNUM *part(const EVP_PKEY *key, const char *name)
{
	BIGNUM *v = NULL;

	assert_int_equal(EVP_PKEY_get_bn_param(key, name, &v), 1);
	return v;
}

static void is_key(EVP_PKEY *key, BN_CTX *ctx)
{
	EVP_PKEY_CTX *check = EVP_PKEY_CTX_new(key, NULL);
	BIGNUM *n = part(key, OSSL_PKEY_PARAM_RSA_N), *e = part(key, OSSL_PKEY_PARAM_RSA_E),
	       *d = part(key, OSSL_PKEY_PARAM_RSA_D), *p = part(key, OSSL_PKEY_PARAM_RSA_FACTOR1),
	       *q = part(key, OSSL_PKEY_PARAM_RSA_FACTOR2), *z = BN_new(), *lcm = BN_new();

	assert_int_equal(EVP_PKEY_check(check), 1);
	assert_int_equal(BN_num_bits(n), 2048);
	assert_true(BN_is_word(e, 65537));
	for (const BIGNUM *const *v = (const BIGNUM *[]){ p, q, NULL }; *v; v++) {
		assert_int_equal(BN_check_prime(*v, ctx, NULL), 1);
		assert_int_equal(BN_num_bits(*v), 1024);
		assert_true(BN_sqr(z, *v, ctx));
		assert_int_equal(BN_num_bits(z), 2048);
	}
	assert_true(BN_sub(z, p, q));
	assert_false(BN_is_negative(z));
	assert_true(BN_num_bits(z) > 924);
	/* d is the inverse for lcm(p - 1, q - 1), and the smallest */
	assert_true(BN_sub_word(p, 1) && BN_sub_word(q, 1) && BN_gcd(z, p, q, ctx) &&
		    BN_mul(lcm, p, q, ctx) && BN_div(lcm, NULL, lcm, z, ctx) &&
		    BN_mod_mul(z, d, e, lcm, ctx));
	assert_true(BN_is_one(z) && BN_cmp(d, lcm) < 0 && BN_num_bits(d) > 1024);
	for (BIGNUM *const *v = (BIGNUM *[]){ n, e, d, p, q, z, lcm, NULL }; *v; v++)
		BN_clear_free(*v);
	EVP_PKEY_CTX_free(check);
}

/* The long check has RSA_KEYS=1000 RSA_CANDIDATES=10000. */
static void keys_are_sound_and_share_nothing(void **state)
{
	const size_t n = repeats("RSA_KEYS", 8);
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *all = BN_new(), *gcd = BN_new();

	(void)state;
	assert_true(BN_one(all));
	for (size_t i = 0; i < n; i++) {
		EVP_PKEY *key = rsa_new_key();
		BIGNUM *modulus;

		assert_non_null(key);
		is_key(key, ctx);
		modulus = part(key, OSSL_PKEY_PARAM_RSA_N);
		assert_true(BN_nnmod(gcd, all, modulus, ctx) &&
			    (i == 0 || BN_gcd(gcd, gcd, modulus, ctx)));
		assert_true(BN_is_one(gcd));
		assert_true(BN_mul(all, all, modulus, ctx));
		BN_free(modulus);
		EVP_PKEY_free(key);
	}
	BN_free(all);
	BN_free(gcd);
	BN_CTX_free(ctx);
}

/* The product of the primes k * m + 1, of k as many as ks has, for a random m; 0 where one is none. */
static void make_product(BIGNUM *ret, const unsigned *ks, int bits, BN_CTX *ctx)
{
	BIGNUM *m = BN_new(), *p = BN_new();

	assert_true(BN_one(ret) && BN_rand(m, bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY));
	for (; *ks && !BN_is_zero(ret); ks++) {
		assert_true(BN_copy(p, m) && BN_mul_word(p, *ks) && BN_add_word(p, 1));
		if (BN_check_prime(p, ctx, NULL) != 1)
			BN_zero(ret);
		else
			assert_true(BN_mul(ret, ret, p, ctx));
	}
	BN_free(m);
	BN_free(p);
}

enum kind { ANY, PRIME, SQUARE, CARMICHAEL, PSEUDOPRIME, N_KINDS };

/* A number of that kind; 0: none came of it. */
static void make_candidate(BIGNUM *w, enum kind kind, int bits, BN_CTX *ctx)
{
	static const unsigned carmichael[] = { 6, 12, 18, 0 }, strong[] = { 1, 2, 0 };

	if (kind == ANY)
		assert_true(BN_rand(w, bits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY));
	if (kind == PRIME || kind == SQUARE)
		assert_true(BN_generate_prime_ex2(w, bits, 0, NULL, NULL, NULL, ctx));
	if (kind == SQUARE)
		assert_true(BN_sqr(w, w, ctx));
	if (kind == CARMICHAEL || kind == PSEUDOPRIME)
		make_product(w, kind == CARMICHAEL ? carmichael : strong, 8 + bits / 8, ctx);
}

static void a_prime_is_told_as_openssl_tells_it(void **state)
{
	const size_t n = repeats("RSA_CANDIDATES", 500);
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *w = BN_new();
	size_t seen[N_KINDS][2] = { 0 };

	(void)state;
	/* all small ones */
	for (BN_ULONG i = 0; i < 1000; i++) {
		assert_true(BN_set_word(w, i));
		assert_int_equal(rsa_is_prime(w, ROUNDS), BN_check_prime(w, ctx, NULL));
	}
	for (size_t i = 0; i < n;) {
		const enum kind kind = i % N_KINDS;
		const int bits = 24 + (int)(i * 37 % 233);
		bool prime;

		make_candidate(w, kind, bits, ctx);
		if (BN_is_zero(w))
			continue;
		prime = rsa_is_prime(w, ROUNDS);
		assert_int_equal(prime, BN_check_prime(w, ctx, NULL));
		seen[kind][prime]++;
		i++;
	}
	assert_true(seen[PRIME][true] && seen[SQUARE][false] && seen[CARMICHAEL][false] &&
		    seen[PSEUDOPRIME][false] && seen[ANY][false]);
	BN_free(w);
	BN_CTX_free(ctx);
}

/* The smallest composites that pass for each of the first 1, 2, 3 ... primes as bases. */
static void strong_pseudoprimes_of_fixed_bases_are_composite(void **state)
{
	static const char *const numbers[] = {
		"2047",
		"1373653",
		"25326001",
		"3215031751",
		"2152302898747",
		"3474749660383",
		"341550071728321",
		"3825123056546413051",
		"318665857834031151167461",
		"3317044064679887385961981",
	};
	BIGNUM *w = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		assert_true(BN_dec2bn(&w, numbers[i]) > 0);
		assert_false(rsa_is_prime(w, ROUNDS));
	}
	BN_free(w);
}

struct pair {
	const char *name;
	int high, low,
		distance; /* bits that are set in p; the bit by which the other is away, 0: it is not known */
	unsigned rest; /* of p by 65537; 0: any but 1 */
	bool may;
};

static void what_a_key_may_not_have(void **state)
{
	static const struct pair pairs[] = {
		{ "the other is not known", 1023, 1022, 0, 0, true },
		{ "too small", 1022, 1021, 0, 0, false },
		{ "below sqrt(2) * 2^1023", 1023, 1000, 0, 0, false },
		{ "too large", 1024, 1023, 0, 0, false },
		{ "the exponent has no inverse", 1023, 1022, 0, 1, false },
		{ "just far enough", 1023, 1022, 924, 0, true },
		{ "too near", 1023, 1022, 923, 0, false },
		{ "the same", 1023, 1022, -1, 0, false },
	};
	BIGNUM *p = BN_new(), *other = BN_new(), *away = BN_new();

	(void)state;
	for (const struct pair *t = pairs; t < pairs + sizeof(pairs) / sizeof(pairs[0]); t++) {
		BN_zero(p);
		BN_zero(away);
		assert_true(BN_set_bit(p, t->high) && BN_set_bit(p, t->low));
		assert_true(
			BN_add_word(p, 65537 + (t->rest ? t->rest : 2) - BN_mod_word(p, 65537)));
		assert_true(t->distance <= 0 || BN_set_bit(away, t->distance));
		assert_true(t->distance ? BN_add(other, p, away) : BN_set_word(other, 0));
		if (rsa_may_serve(p, other) != t->may)
			fail_msg("%s", t->name);
	}
	BN_free(p);
	BN_free(other);
	BN_free(away);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_are_sound_and_share_nothing),
		cmocka_unit_test(a_prime_is_told_as_openssl_tells_it),
		cmocka_unit_test(strong_pseudoprimes_of_fixed_bases_are_composite),
		cmocka_unit_test(what_a_key_may_not_have),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
