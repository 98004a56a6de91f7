#include "nodeup/config/pem_block.h"

#include <limits.h>
#include <openssl/pem.h>
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

	/* openssl.cnf of the host may name engines and providers that a static binary cannot load */
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
