#include "nodeup/aws/sigv4.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>
#include "assets/digest.h"
#include "assets/url.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/enc.h"

enum { MAC_SIZE = 32, DAY_LEN = 8 };

const char sigv4_empty[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/* Name and value of a header or of a query's parameter. */
struct pair {
	const char *name, *value;
	size_t index; /* headers of one name keep their order */
};

struct pairs {
	struct pair *v;
	size_t n;
};

static const char stamp[] = "%Y%m%dT%H%M%SZ";

static int compare_headers(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : (x->index > y->index) - (x->index < y->index);
}

static int compare_parameters(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : strcmp(x->value, y->value);
}

static void sort(struct pairs *p, int (*compare)(const void *, const void *))
{
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), compare);
}

static char *lower(struct arena *a, const char *text, size_t n)
{
	char *out = arena_strn(a, text, n);

	for (char *p = out; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return out;
}

/* Trims white space at both ends, and makes one space of any white space inside. */
static char *squeeze(struct arena *a, const char *text)
{
	char *out = str_trim(a, text), *to = out;

	for (const char *p = out; *p; p++)
		if (!isspace((unsigned char)*p))
			*to++ = *p;
		else if (!isspace((unsigned char)p[1]))
			*to++ = ' ';
	*to = '\0';
	return out;
}

static void add_header(struct arena *a, struct pairs *p, const char *header)
{
	const char *colon = strchr(header, ':');
	struct pair pair = { .index = p->n };

	if (!colon)
		return;
	pair.name = lower(a, header, (size_t)(colon - header));
	pair.value = squeeze(a, colon + 1);
	arena_push(a, p->v, p->n, pair);
}

/* The headers that signing adds, without the signature. */
static struct strv added_headers(struct arena *a, const struct sigv4_req *req, const char *token)
{
	struct strv out = { 0 };

	strv_addf(a, &out, "X-Amz-Date: %s", dur_utc(a, req->time, stamp));
	if (str_eq(req->service, "s3"))
		strv_addf(a, &out, "X-Amz-Content-Sha256: %s", req->payload);
	if (token)
		strv_addf(a, &out, "X-Amz-Security-Token: %s", token);
	return out;
}

/* Returns all signed headers in order; the values of headers with one name are joined. */
static struct pairs canonical_headers(struct arena *a, const struct sigv4_req *req,
				      const char *token)
{
	struct strv added = added_headers(a, req, token);
	struct pairs all = { 0 }, out = { 0 };

	add_header(a, &all, arena_printf(a, "host:%s", req->host));
	for (size_t i = 0; i < req->headers.n; i++)
		add_header(a, &all, req->headers.v[i]);
	for (size_t i = 0; i < added.n; i++)
		add_header(a, &all, added.v[i]);
	sort(&all, compare_headers);
	for (size_t i = 0; i < all.n; i++) {
		struct pair *last = out.n ? &out.v[out.n - 1] : NULL;

		if (last && str_eq(last->name, all.v[i].name))
			last->value = arena_printf(a, "%s,%s", last->value, all.v[i].value);
		else
			arena_push(a, out.v, out.n, all.v[i]);
	}
	return out;
}

static const char *canonical_query(struct arena *a, const char *query)
{
	struct strv parts = strv_split(a, query ? query : "", '&'), out = { 0 };
	struct pairs p = { 0 };

	for (size_t i = 0; i < parts.n; i++) {
		const char *equals = strchrnul(parts.v[i], '=');
		struct pair pair = { .value = *equals ? equals + 1 : "" };

		pair.name = arena_strn(a, parts.v[i], (size_t)(equals - parts.v[i]));
		arena_push(a, p.v, p.n, pair);
	}
	/* sorts by name, then by value: if both were compared as one text, "a-b=" would come before "a=" */
	sort(&p, compare_parameters);
	for (size_t i = 0; i < p.n; i++)
		strv_addf(a, &out, "%s=%s", p.v[i].name, p.v[i].value);
	return strv_join(a, &out, "&");
}

static const char *signed_names(struct arena *a, const struct pairs *headers)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < headers->n; i++)
		strv_add(a, &names, headers->v[i].name);
	return strv_join(a, &names, ";");
}

/* Returns the host as curl sends it: without a port that is the scheme's usual port. */
static char *host_of(struct arena *a, const struct url *u)
{
	const char *port = url_has_scheme(u, "https") ? ":443" : ":80";
	char *host = arena_strn(a, u->authority, u->authority_n);

	if (str_has_suffix(host, port))
		host[strlen(host) - strlen(port)] = '\0';
	return host;
}

void sigv4_set_url(struct arena *a, struct sigv4_req *req, const char *url)
{
	const struct url u = url_split(url);
	const char *query = strchr(url, '?');

	req->host = host_of(a, &u);
	req->path = arena_strn(a, u.path, u.path_n);
	req->query = query ? query + 1 : NULL;
}

char *sigv4_canonical(struct arena *a, const struct sigv4_req *req, const char *token)
{
	struct pairs headers = canonical_headers(a, req, token);
	struct strv lines = { 0 };

	strv_add(a, &lines, req->method);
	strv_add(a, &lines, req->path);
	strv_add(a, &lines, canonical_query(a, req->query));
	for (size_t i = 0; i < headers.n; i++)
		strv_addf(a, &lines, "%s:%s", headers.v[i].name, headers.v[i].value);
	strv_add(a, &lines, "");
	strv_add(a, &lines, signed_names(a, &headers));
	strv_add(a, &lines, req->payload);
	return strv_join(a, &lines, "\n");
}

static void mac(const void *key, size_t key_n, const char *text, unsigned char out[static MAC_SIZE])
{
	unsigned int n = 0;

	if (!HMAC(EVP_sha256(), key, (int)key_n, (const unsigned char *)text, strlen(text), out,
		  &n) ||
	    n != MAC_SIZE)
		abort();
}

static char *signature(struct arena *a, const struct sigv4_req *req, const char *secret,
		       const char *day, const char *to_sign)
{
	const char *const steps[] = { req->region, req->service, "aws4_request", to_sign };
	char *first = arena_printf(a, "AWS4%s", secret), *hex;
	unsigned char key[MAC_SIZE], next[MAC_SIZE];

	mac(first, strlen(first), day, key);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		mac(key, sizeof(key), steps[i], next);
		memcpy(key, next, sizeof(key));
	}
	hex = enc_hex(a, key, sizeof(key));
	OPENSSL_cleanse(first, strlen(first));
	OPENSSL_cleanse(key, sizeof(key));
	OPENSSL_cleanse(next, sizeof(next));
	return hex;
}

struct strv sigv4_sign(struct arena *a, const struct sigv4_req *req, const struct sigv4_key *key)
{
	struct strv out = added_headers(a, req, key->token);
	struct pairs headers = canonical_headers(a, req, key->token);
	const char *canonical = sigv4_canonical(a, req, key->token), *day, *scope, *to_sign;
	const char *when = dur_utc(a, req->time, stamp);
	char hex[DIGEST_TEXT_MAX];

	day = arena_strn(a, when, DAY_LEN);
	scope = arena_printf(a, "%s/%s/%s/aws4_request", day, req->region, req->service);
	/* this hash comes before any HMAC: digest.h keeps OpenSSL from reading the host's configuration */
	to_sign = arena_printf(a, "AWS4-HMAC-SHA256\n%s\n%s\n%s", when, scope,
			       digest_sha256_hex(canonical, strlen(canonical), hex));
	strv_addf(a, &out,
		  "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s, "
		  "SignedHeaders=%s, Signature=%s",
		  key->id, scope, signed_names(a, &headers),
		  signature(a, req, key->secret, day, to_sign));
	return out;
}
