#include "assets/digest.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/str.h"

enum { READ_CHUNK = 256 * 1024 };

static const struct {
	const char *name;
	size_t size;
} algos[] = {
	[DIGEST_SHA1] = { "sha1", 20 },
	[DIGEST_SHA256] = { "sha256", 32 },
	[DIGEST_SHA512] = { "sha512", 64 },
	[DIGEST_BLAKE2B] = { "blake2b512", 64 },
};

struct digest_ctx {
	EVP_MD_CTX *md;
	enum digest_algo algo;
};

/* OpenSSL's methods, fetched once and then only read, as each fetch walks OpenSSL's provider tables under a lock. */
static EVP_MD *methods[ARRAY_LEN(algos)];
static pthread_once_t methods_once = PTHREAD_ONCE_INIT;

static void fetch_methods(void)
{
	/* the host's openssl.cnf may name engines and providers that a static binary cannot load */
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) != 1)
		abort();
	for (size_t i = 0; i < ARRAY_LEN(algos); i++) {
		methods[i] = EVP_MD_fetch(NULL, algos[i].name, NULL);
		if (!methods[i])
			abort();
	}
}

static int bad_text(const char *text, size_t n, const char *why, struct err *e)
{
	return err_config(e, "'%.*s%s' is not a digest: %s", (int)(n < 80 ? n : 80), text,
			  n < 80 ? "" : "...", why);
}

/* Returns the algorithm with this prefix; without a prefix, the algorithm of this length. DIGEST_ALGO_MAX if no
 * algorithm fits. */
static enum digest_algo find_algo(const char *prefix, size_t prefix_n, size_t hex_n)
{
	for (size_t i = 0; i < DIGEST_ALGO_MAX; i++) {
		if (algos[i].size * 2 != hex_n)
			continue;
		if (!prefix)
			return (enum digest_algo)i;
		if (strlen(algos[i].name) == prefix_n &&
		    strncasecmp(algos[i].name, prefix, prefix_n) == 0)
			return (enum digest_algo)i;
	}
	return DIGEST_ALGO_MAX;
}

int digest_parse(const char *text, size_t n, struct digest *ret_d, struct err *e)
{
	const char *colon = memchr(text, ':', n);
	const char *hex = colon ? colon + 1 : text;
	size_t hex_n = n - (size_t)(hex - text);
	struct digest d = { 0 };

	d.algo = find_algo(colon ? text : NULL, colon ? (size_t)(colon - text) : 0, hex_n);
	if (d.algo == DIGEST_ALGO_MAX)
		return bad_text(
			text, n,
			colon ? "wanted sha1:, sha256: or sha512: and 40, 64 or 128 hex digits"
			      : "wanted 40, 64 or 128 hex digits",
			e);
	for (size_t i = 0; i < hex_n; i++) {
		int v = str_hex_value(hex[i]);

		if (v < 0)
			return bad_text(text, n, "not hexadecimal", e);
		d.bytes[i / 2] = (uint8_t)(d.bytes[i / 2] << 4 | v);
	}
	*ret_d = d;
	return 0;
}

const char *digest_hex(const struct digest *d, char hex[static DIGEST_TEXT_MAX])
{
	static const char digits[] = "0123456789abcdef";
	size_t n = digest_size(d->algo);

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[d->bytes[i] >> 4];
		hex[2 * i + 1] = digits[d->bytes[i] & 15];
	}
	hex[2 * n] = '\0';
	return hex;
}

const char *digest_algo_name(enum digest_algo algo)
{
	return algos[algo].name;
}

size_t digest_size(enum digest_algo algo)
{
	return algos[algo].size;
}

bool digest_eq(const struct digest *a, const struct digest *b)
{
	return a->algo == b->algo && CRYPTO_memcmp(a->bytes, b->bytes, digest_size(a->algo)) == 0;
}

struct digest_ctx *digest_new(enum digest_algo algo)
{
	struct digest_ctx *c = xcalloc(1, sizeof(*c));

	(void)pthread_once(&methods_once, fetch_methods);
	c->algo = algo;
	c->md = EVP_MD_CTX_new();
	/* these calls fail only for lack of memory */
	if (!c->md || EVP_DigestInit_ex2(c->md, methods[algo], NULL) != 1)
		abort();
	return c;
}

void digest_update(struct digest_ctx *c, const void *data, size_t n)
{
	if (EVP_DigestUpdate(c->md, data, n) != 1)
		abort();
}

void digest_final(struct digest_ctx *c, struct digest *ret_d)
{
	struct digest d = { .algo = c->algo };

	if (EVP_DigestFinal_ex(c->md, d.bytes, NULL) != 1)
		abort();
	*ret_d = d;
}

void digest_free(struct digest_ctx *c)
{
	if (!c)
		return;
	EVP_MD_CTX_free(c->md);
	free(c);
}

void cleanup_digestp(struct digest_ctx **c)
{
	digest_free(*c);
}

void digest_of(enum digest_algo algo, const void *data, size_t n, struct digest *ret_d)
{
	autodigest struct digest_ctx *c = digest_new(algo);

	digest_update(c, data, n);
	digest_final(c, ret_d);
}

const char *digest_sha256_hex(const void *data, size_t n, char hex[static DIGEST_TEXT_MAX])
{
	struct digest d;

	digest_of(DIGEST_SHA256, data, n, &d);
	return digest_hex(&d, hex);
}

/* Hashes an open file from its start, and leaves its offset as it is. Returns 0 or -errno, and sets errno. */
static int update_fd(struct digest_ctx *c, int fd)
{
	autofree char *chunk = xrealloc(NULL, READ_CHUNK);
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, chunk, READ_CHUNK, at)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		digest_update(c, chunk, (size_t)n);
		at += n;
	}
	return 0;
}

int digest_of_fd(enum digest_algo algo, int fd, const char *name, struct digest *ret_d,
		 struct err *e)
{
	autodigest struct digest_ctx *c = digest_new(algo);

	if (update_fd(c, fd) < 0)
		return err_sys(e, "read '%s'", name);
	digest_final(c, ret_d);
	return 0;
}
