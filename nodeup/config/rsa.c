#include "nodeup/config/rsa.h"

#include <assert.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	BITS = 2048,
	PRIME_BITS = BITS / 2,
	DISTANCE_BITS = BITS / 2 - 100,
	EXPONENT = 65537,
	ROUNDS = 5,
	SMALL_MAX = 1 << 16, /* candidates are divided by the primes below this */
	N_SMALL = 6540, /* the odd primes below SMALL_MAX except the last one: a multiple of four */
	SPAN = 1 << 12, /* how far a candidate may be from its random place */
};

static BN_CTX *new_ctx(void)
{
	BN_CTX *ctx = BN_CTX_secure_new(); /* this context clears its numbers when it is freed */

	if (!ctx)
		abort();
	BN_CTX_start(ctx);
	return ctx;
}

static void free_ctx(BN_CTX **ctx)
{
	BN_CTX_end(*ctx);
	BN_CTX_free(*ctx);
}

#define autoctx __attribute__((cleanup(free_ctx))) BN_CTX

static_assert(sizeof(BN_ULONG) == 8, "four small primes must fit");

static void fill_small(uint16_t small[N_SMALL])
{
	/* one bit for each odd number, to save stack: a thread never gives back stack that it has used */
	uint8_t composite[SMALL_MAX / 16] = { 0 };
	size_t n = 0;

	for (size_t i = 3; i < SMALL_MAX && n < N_SMALL; i += 2) {
		if (composite[i / 16] & 1U << i / 2 % 8)
			continue;
		small[n++] = (uint16_t)i;
		for (size_t j = i * i; j < SMALL_MAX; j += 2 * i)
			composite[j / 16] |= (uint8_t)(1U << j / 2 % 8);
	}
}

/* A search for one prime: the candidate and its state. */
struct search {
	const uint16_t *small;  /* N_SMALL */
	bool divided[SPAN / 2]; /* place + 2 * i is divisible by a small prime */
	/* distance from the place to w, and to the next candidate; SPAN: needs a new place */
	uint32_t at, offset;
	int twos, passed; /* w - 1 = odd * 2^twos; the rounds that w has passed, -1: it failed */
	BIGNUM *w, *minus_1, *odd, *base, *z;
	BN_MONT_CTX *mont;
};

static bool begin_search(struct search *s, const uint16_t *small, BN_CTX *ctx)
{
	*s = (struct search){ .small = small, .offset = SPAN, .mont = BN_MONT_CTX_new() };
	s->w = BN_CTX_get(ctx);
	s->minus_1 = BN_CTX_get(ctx);
	s->odd = BN_CTX_get(ctx);
	s->base = BN_CTX_get(ctx);
	s->z = BN_CTX_get(ctx);
	return s->z && s->mont;
}

static void end_search(struct search *s)
{
	OPENSSL_cleanse(s->divided, sizeof(s->divided));
	BN_MONT_CTX_free(s->mont);
}

/* Prepares to test w, which is odd and above 3. */
static bool set_candidate(struct search *s, BN_CTX *ctx)
{
	s->passed = 0;
	s->twos = 1;
	if (!BN_sub(s->minus_1, s->w, BN_value_one()) || !BN_MONT_CTX_set(s->mont, s->w, ctx))
		return false;
	while (!BN_is_bit_set(s->minus_1, s->twos))
		s->twos++;
	return BN_rshift(s->odd, s->minus_1, s->twos) == 1;
}

/* Chooses a base from 2 to w - 2. */
static bool set_base(struct search *s)
{
	return BN_copy(s->z, s->w) && BN_sub_word(s->z, 3) && BN_priv_rand_range(s->base, s->z) &&
	       BN_add_word(s->base, 2);
}

/* Ends a round: z is base^odd. Counts whether w passed. False: the computation failed. */
static bool count_round(struct search *s, BN_CTX *ctx)
{
	bool ok = true, passed = BN_is_one(s->z) || BN_cmp(s->z, s->minus_1) == 0;

	for (int i = 1; ok && !passed && i < s->twos; i++) {
		ok = BN_mod_sqr(s->z, s->z, s->w, ctx) == 1;
		passed = ok && BN_cmp(s->z, s->minus_1) == 0;
	}
	s->passed = passed ? s->passed + 1 : -1;
	return ok;
}

/* Runs one more round for a, and one for b if it is not NULL. On some processors OpenSSL raises two numbers in
 * little more time than one. */
static bool try_round(struct search *a, struct search *b, BN_CTX *ctx)
{
	bool ok = set_base(a) && (!b || set_base(b));

	if (b)
		ok = ok && BN_mod_exp_mont_consttime_x2(a->z, a->base, a->odd, a->w, a->mont, b->z,
							b->base, b->odd, b->w, b->mont, ctx);
	else
		ok = ok && BN_mod_exp_mont_consttime(a->z, a->base, a->odd, a->w, ctx, a->mont);
	return ok && count_round(a, ctx) && (!b || count_round(b, ctx));
}

/* Marks the numbers that a prime divides; rest is the place modulo the prime. */
static void sieve(struct search *s, uint32_t prime, uint32_t rest)
{
	/* the first offset that is even */
	const uint32_t offset = rest == 0 ? 0 : rest % 2 ? prime - rest : 2 * prime - rest;

	for (size_t i = offset / 2; i < SPAN / 2; i += prime)
		s->divided[i] = true;
}

/* Returns whether w is at least sqrt(2) * 2^1023 and below 2^1024; square is scratch space. */
static bool is_sized(const BIGNUM *w, BIGNUM *square, BN_CTX *ctx)
{
	return BN_sqr(square, w, ctx) && BN_num_bits(square) == BITS;
}

static bool choose_start(struct search *s, BN_CTX *ctx)
{
	s->at = s->offset = 0;
	memset(s->divided, 0, sizeof(s->divided));
	do
		if (!BN_priv_rand(s->w, PRIME_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ODD))
			return false;
	while (!is_sized(s->w, s->z, ctx));
	/* divides by the product of four primes, which fills a word */
	for (size_t i = 0; i < N_SMALL; i += 4) {
		const uint16_t *p = &s->small[i];
		const BN_ULONG product = (BN_ULONG)p[0] * p[1] * p[2] * p[3];
		BN_ULONG rest;

		if (!BN_copy(s->z, s->w) || (rest = BN_div_word(s->z, product)) == (BN_ULONG)-1)
			return false;
		for (size_t j = 0; j < 4; j++)
			sieve(s, p[j], (uint32_t)(rest % p[j]));
	}
	return true;
}

/* Goes on to the next number that no small prime divides. */
static bool next_candidate(struct search *s, BN_CTX *ctx)
{
	while (s->offset < SPAN && s->divided[s->offset / 2])
		s->offset += 2;
	if (s->offset >= SPAN)
		return choose_start(s, ctx) && next_candidate(s, ctx);
	if (!BN_add_word(s->w, s->offset - s->at))
		return false;
	s->at = s->offset;
	s->offset += 2;
	return set_candidate(s, ctx);
}

/* Finds p and q, the larger first: the first two primes of two parallel searches. */
static bool find_two(struct search v[2], BIGNUM *p, BIGNUM *q, BN_CTX *ctx)
{
	bool ok = next_candidate(&v[0], ctx) && next_candidate(&v[1], ctx);

	BN_zero(p);
	BN_zero(q);
	while (ok && BN_is_zero(q)) {
		ok = try_round(&v[0], &v[1], ctx);
		for (struct search *s = v; ok && s < v + 2; s++) {
			if (s->passed == ROUNDS && rsa_may_serve(s->w, p))
				ok = BN_copy(BN_is_zero(p) ? p : q, s->w);
			if (s->passed == ROUNDS || s->passed < 0)
				ok = ok && next_candidate(s, ctx);
		}
	}
	if (ok && BN_ucmp(p, q) < 0)
		BN_swap(p, q);
	return ok;
}

static bool find_primes(BIGNUM *p, BIGNUM *q, BN_CTX *ctx)
{
	uint16_t small[N_SMALL];
	struct search v[2];
	bool begun[2], ok;

	fill_small(small);
	for (int i = 0; i < 2; i++)
		begun[i] = begin_search(&v[i], small, ctx);
	ok = begun[0] && begun[1] && find_two(v, p, q, ctx);
	end_search(&v[0]);
	end_search(&v[1]);
	return ok;
}

const char *const rsa_names[RSA_PARTS] = {
	[RSA_N] = OSSL_PKEY_PARAM_RSA_N,          [RSA_E] = OSSL_PKEY_PARAM_RSA_E,
	[RSA_D] = OSSL_PKEY_PARAM_RSA_D,          [RSA_P] = OSSL_PKEY_PARAM_RSA_FACTOR1,
	[RSA_Q] = OSSL_PKEY_PARAM_RSA_FACTOR2,    [RSA_DP] = OSSL_PKEY_PARAM_RSA_EXPONENT1,
	[RSA_DQ] = OSSL_PKEY_PARAM_RSA_EXPONENT2, [RSA_QINV] = OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
};

/* Computes all numbers from E, P and Q. Returns false if d is too short. */
static bool compute(BIGNUM *v[RSA_PARTS], BN_CTX *ctx)
{
	BIGNUM *p1 = BN_CTX_get(ctx), *q1 = BN_CTX_get(ctx), *gcd = BN_CTX_get(ctx),
	       *lcm = BN_CTX_get(ctx);

	if (!lcm || !BN_sub(p1, v[RSA_P], BN_value_one()) || !BN_sub(q1, v[RSA_Q], BN_value_one()))
		return false;
	for (BIGNUM *const *b = (BIGNUM *[]){ p1, q1, lcm, v[RSA_P], v[RSA_Q], v[RSA_D], NULL }; *b;
	     b++)
		BN_set_flags(*b, BN_FLG_CONSTTIME);
	return BN_gcd(gcd, p1, q1, ctx) && BN_mul(lcm, p1, q1, ctx) &&
	       BN_div(lcm, NULL, lcm, gcd, ctx) && BN_mul(v[RSA_N], v[RSA_P], v[RSA_Q], ctx) &&
	       BN_mod_inverse(v[RSA_D], v[RSA_E], lcm, ctx) && BN_num_bits(v[RSA_D]) > PRIME_BITS &&
	       BN_mod(v[RSA_DP], v[RSA_D], p1, ctx) && BN_mod(v[RSA_DQ], v[RSA_D], q1, ctx) &&
	       BN_mod_inverse(v[RSA_QINV], v[RSA_Q], v[RSA_P], ctx);
}

EVP_PKEY *rsa_assemble(BIGNUM *const v[RSA_PARTS])
{
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
	OSSL_PARAM *params;
	EVP_PKEY *key = NULL;
	bool ok = bld && ctx;

	for (int i = 0; ok && i < RSA_PARTS; i++)
		ok = OSSL_PARAM_BLD_push_BN(bld, rsa_names[i], v[i]) == 1;
	params = ok ? OSSL_PARAM_BLD_to_param(bld) : NULL;
	if (params && EVP_PKEY_fromdata_init(ctx) == 1 &&
	    EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_KEYPAIR, params) != 1)
		key = NULL;
	OSSL_PARAM_free(params);
	OSSL_PARAM_BLD_free(bld);
	EVP_PKEY_CTX_free(ctx);
	return key;
}

EVP_PKEY *rsa_new_key(void)
{
	autoctx *ctx = new_ctx();
	BIGNUM *v[RSA_PARTS];

	for (int i = 0; i < RSA_PARTS; i++)
		v[i] = BN_CTX_get(ctx);
	return v[RSA_PARTS - 1] && BN_set_word(v[RSA_E], EXPONENT) &&
			       find_primes(v[RSA_P], v[RSA_Q], ctx) && compute(v, ctx)
		       ? rsa_assemble(v)
		       : NULL;
}

bool rsa_may_serve(const BIGNUM *p, const BIGNUM *other)
{
	autoctx *ctx = new_ctx();
	BIGNUM *z = BN_CTX_get(ctx);

	return z && is_sized(p, z, ctx) && BN_sub(z, p, other) && BN_num_bits(z) > DISTANCE_BITS &&
	       BN_copy(z, p) && BN_div_word(z, EXPONENT) != 1;
}

bool rsa_is_prime(const BIGNUM *w, int rounds)
{
	autoctx *ctx = new_ctx();
	struct search s;

	if (!BN_is_odd(w) || BN_num_bits(w) < 3)
		return BN_is_word(w, 2) || BN_is_word(w, 3);
	if (begin_search(&s, NULL, ctx) && BN_copy(s.w, w) && set_candidate(&s, ctx))
		while (s.passed >= 0 && s.passed < rounds && try_round(&s, NULL, ctx))
			;
	end_search(&s);
	return s.passed == rounds;
}
