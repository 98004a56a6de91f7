#include "nodeup/config/pem_block.h"

#include <limits.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/str.h"

void pem_close(BIO **bio)
{
	BIO_free_all(*bio);
}

void pem_free_block(struct pem_block *b)
{
	OPENSSL_free(b->label);
	OPENSSL_free(b->headers);
	OPENSSL_clear_free(b->der, b->der ? (size_t)b->n : 0);
}

BIO *pem_open(const char *text)
{
	const size_t n = strlen(text);
	BIO *bio = NULL;

	/* the host's openssl.cnf may name engines and providers that a static binary cannot load */
	if (OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL) == 1 && n <= INT_MAX)
		bio = BIO_new_mem_buf(text, (int)n);
	if (!bio)
		abort();
	return bio;
}

bool pem_next(BIO *bio, struct pem_block *ret)
{
	pem_free_block(ret);
	*ret = (struct pem_block){ 0 };
	return PEM_read_bio(bio, &ret->label, &ret->headers, &ret->der, &ret->n) == 1;
}

size_t pem_count(const char *text)
{
	static const char begin[] = "-----BEGIN";
	size_t n = str_has_prefix(text, begin);

	for (const char *p = text; (p = strchr(p, '\n')); p++)
		n += str_has_prefix(p + 1, begin);
	return n;
}

const char *pem_text(struct arena *a, BIO *bio)
{
	char *p;
	const long n = BIO_get_mem_data(bio, &p);

	return arena_strn(a, p, (size_t)n);
}

/* room for the certificates of a control plane, with two generations of each CA; further certificates are parsed
 * each time */
enum { KEPT_MAX = 64 };

struct kept {
	unsigned char *der;
	long n;
	X509 *cert;
	bool whole;
};

static struct kept all[KEPT_MAX];
static size_t n_kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct kept *find(const unsigned char *der, long n)
{
	for (size_t i = 0; i < n_kept; i++)
		if (all[i].n == n && memcmp(all[i].der, der, (size_t)n) == 0)
			return &all[i];
	return NULL;
}

/* Parses a certificate, and keeps it while there is room. */
static struct kept parse(const unsigned char *der, long n)
{
	const unsigned char *end = der;
	struct kept k = { .n = n, .cert = d2i_X509(NULL, &end, n) };

	k.whole = end == der + n;
	if (k.cert && n_kept < KEPT_MAX && X509_up_ref(k.cert) == 1) {
		k.der = memcpy(xcalloc(1, (size_t)n), der, (size_t)n);
		all[n_kept++] = k;
	}
	return k;
}

X509 *certificate_of(const unsigned char *der, long n, bool *ret_whole)
{
	const struct kept *k;
	struct kept one;

	(void)pthread_mutex_lock(&lock);
	k = find(der, n);
	one = k ? *k : parse(der, n);
	if (k && X509_up_ref(k->cert) != 1)
		one.cert = NULL;
	(void)pthread_mutex_unlock(&lock);
	*ret_whole = one.whole;
	return one.cert;
}
