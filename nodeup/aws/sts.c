#include "nodeup/aws/sts.h"

#include <stdlib.h>
#include <string.h>
#include "assets/digest.h"
#include "nodeup/aws/endpoint.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/json.h"

enum { JSON_MAX = 64 << 10 };

static const char question[] = "Action=GetCallerIdentity&Version=2011-06-15";
static const char form[] = "Content-Type: application/x-www-form-urlencoded; charset=utf-8";

/* Encodes in base64 without padding, as Go's RawStdEncoding. */
static const char *bound_to(struct arena *a, const struct sts_proof *p)
{
	struct digest d;
	char *text;

	digest_of(DIGEST_SHA256, p->body, p->n, &d);
	text = enc_base64(a, d.bytes, digest_size(d.algo));
	text[strcspn(text, "=")] = '\0';
	return text;
}

/* Adds a header in the form of Go's header map, in which each value is a list. The caller leaves out signed headers
 * that the server knows already. */
static void add_header(struct arena *a, struct tree *map, const char *header)
{
	const char *colon = strchr(header, ':');
	const char *name = arena_strn(a, header, (size_t)(colon - header));

	(void)tree_set(a, map, name,
		       tree_add(a, tree_seq(a), tree_string(a, colon + strspn(colon, ": "))));
}

static struct tree *headers_of(struct arena *a, const struct sts_proof *p)
{
	const char *bound = arena_printf(a, "X-Kops-Request-Sha: %s", bound_to(a, p));
	struct sigv4_req req = { .method = "POST",
				 .path = "/",
				 .region = p->region,
				 .service = "sts",
				 .time = p->time };
	struct tree *map = tree_map(a);
	char hex[DIGEST_TEXT_MAX];
	struct strv made;

	req.payload = digest_sha256_hex(question, strlen(question), hex);
	req.host = p->host ? p->host : sts_host(a, p->region);
	strv_addf(a, &req.headers, "Content-Length: %zu", strlen(question));
	strv_add(a, &req.headers, form);
	strv_add(a, &req.headers, bound);
	made = sigv4_sign(a, &req, &p->key);
	strv_add(a, &made, form);
	strv_add(a, &made, bound);
	strv_sort(&made);
	for (size_t i = 0; i < made.n; i++)
		add_header(a, map, made.v[i]);
	return map;
}

char *sts_host(struct arena *a, const char *region)
{
	return arena_printf(a, "sts.%s.%s", region, endpoint_domain(region));
}

char *sts_authorization(struct arena *a, const struct sts_proof *p)
{
	autobuf struct buf json = BUF_INIT(JSON_MAX);
	struct err never;

	if (json_render(headers_of(a, p), false, &json, &never) < 0)
		abort();
	return arena_printf(a, "x-aws-sts %s", enc_base64(a, buf_str(&json), json.len));
}
