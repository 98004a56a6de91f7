#include "nodeup/aws/s3.h"

#include <ctype.h>
#include <expat.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/enc.h"

enum { DEPTH_MAX = 8, TEXT_MAX = 8 * 1024, NAMES_MAX = 100 * 1000 };

/* source: botocore's endpoints.json, dnsSuffix of each partition */
/* clang-format off */
static const struct {
	const char *region_prefix, *domain;
} partitions[] = {
	{ "cn-",      "amazonaws.com.cn" },
	{ "us-iso-",  "c2s.ic.gov" },
	{ "us-isob-", "sc2s.sgov.gov" },
	{ "us-isof-", "csp.hci.ic.gov" },
	{ "eusc-",    "amazonaws.eu" },
	{ "",         "amazonaws.com" },
};
/* clang-format on */

int s3_parse(struct arena *a, const char *location, struct s3_location *ret, struct err *e)
{
	const char *bucket, *slash;
	size_t n;

	if (!str_has_prefix(location, "s3://"))
		return err_config(e, "'%s': wanted s3://bucket/key", location);
	bucket = location + strlen("s3://");
	slash = strchrnul(bucket, '/');
	n = (size_t)(slash - bucket);
	/* it becomes part of a host name; old ones have capitals and underscores */
	for (size_t i = 0; i < n; i++)
		if (!isalnum((unsigned char)bucket[i]) && !strchr("-._", bucket[i]))
			n = 0;
	if (n < 3 || n > 255)
		return err_config(e, "'%s': not the name of a bucket", location);
	ret->bucket = arena_strn(a, bucket, n);
	ret->key = arena_str(a, *slash ? slash + 1 : slash);
	return 0;
}

const char *s3_endpoint(void)
{
	static const char *const names[] = { "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL",
					     "S3_ENDPOINT" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!str_is_empty(getenv(names[i])))
			return getenv(names[i]);
	return NULL;
}

static bool fits_host(const char *bucket)
{
	/* a dot would need a certificate of two levels; capitals and underscores are no host */
	return bucket[strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0' &&
	       strlen(bucket) <= 63;
}

static const char *domain_of(const char *region)
{
	for (size_t i = 0;; i++)
		if (str_has_prefix(region, partitions[i].region_prefix))
			return partitions[i].domain;
}

/* Scheme, host and all of the path that is not the key; ends in a slash. */
static char *bucket_url(struct arena *a, const char *bucket, const char *region)
{
	const char *endpoint = s3_endpoint();
	size_t n = endpoint ? strlen(endpoint) : 0;

	while (n && endpoint[n - 1] == '/')
		n--;
	if (endpoint)
		return arena_printf(a, "%s%.*s/%s/", strstr(endpoint, "://") ? "" : "https://",
				    (int)n, endpoint, bucket);
	if (!fits_host(bucket))
		return arena_printf(a, "https://s3.%s.%s/%s/", region, domain_of(region), bucket);
	return arena_printf(a, "https://%s.s3.%s.%s/", bucket, region, domain_of(region));
}

char *s3_object_url(struct arena *a, const struct s3_location *loc, const char *region)
{
	return arena_printf(a, "%s%s", bucket_url(a, loc->bucket, region),
			    enc_url(a, loc->key, true));
}

char *s3_list_url(struct arena *a, const struct s3_location *loc, const char *region,
		  const char *token)
{
	const char *slash = *loc->key && !str_has_suffix(loc->key, "/") ? "%2F" : "";

	/* in the order a signature wants */
	return arena_printf(a, "%s?%s%s%sdelimiter=%%2F&list-type=2&prefix=%s%s",
			    bucket_url(a, loc->bucket, region), token ? "continuation-token=" : "",
			    token ? enc_url(a, token, false) : "", token ? "&" : "",
			    enc_url(a, loc->key, false), slash);
}

/* The elements on the way down and the text of the innermost. */
struct reader {
	XML_Parser parser;
	const char *path[DEPTH_MAX];
	size_t depth;
	struct arena *arena;
	struct buf text;
	void (*leaf)(struct reader *r, const char *parent, const char *name, const char *text);
	/* of a listing */
	struct strv *names;
	const char *token;
	bool truncated;
	/* of an error */
	const char *code, *message, *request_id;
};

static void on_start(void *arg, const char *name, const char **attributes)
{
	struct reader *r = arg;

	(void)attributes;
	if (r->depth == DEPTH_MAX) {
		(void)XML_StopParser(r->parser, XML_FALSE);
		return;
	}
	r->path[r->depth++] = arena_str(r->arena, name);
	buf_done(&r->text);
}

static void on_text(void *arg, const char *p, int n)
{
	struct reader *r = arg;

	if (buf_add(&r->text, p, (size_t)n) < 0)
		(void)XML_StopParser(r->parser, XML_FALSE);
}

static void on_end(void *arg, const char *name)
{
	struct reader *r = arg;

	if (r->depth >= 2)
		r->leaf(r, r->path[r->depth - 2], name, buf_str(&r->text));
	r->depth--;
	buf_done(&r->text);
}

/* S3 sends no document type; entities of one are how XML is abused. */
static void on_doctype(void *arg, const char *name, const char *system_id, const char *public_id,
		       int has_internal)
{
	struct reader *r = arg;

	(void)name;
	(void)system_id;
	(void)public_id;
	(void)has_internal;
	(void)XML_StopParser(r->parser, XML_FALSE);
}

/* Read all of it below a root of this name; false if it is something else. */
static bool read_xml(struct reader *r, const char *root, const char *xml, size_t n)
{
	bool ok;

	r->parser = XML_ParserCreate(NULL);
	if (!r->parser)
		abort();
	r->text = BUF_INIT(TEXT_MAX);
	XML_SetUserData(r->parser, r);
	XML_SetElementHandler(r->parser, on_start, on_end);
	XML_SetCharacterDataHandler(r->parser, on_text);
	XML_SetStartDoctypeDeclHandler(r->parser, on_doctype);
	ok = n <= INT32_MAX && XML_Parse(r->parser, xml, (int)n, 1) == XML_STATUS_OK &&
	     str_eq(r->path[0], root);
	XML_ParserFree(r->parser);
	buf_done(&r->text);
	return ok;
}

/* The last part of a key; nothing for the folder itself. */
static void add_name(struct reader *r, const char *key, bool is_folder)
{
	size_t n = strlen(key);
	const char *name;

	if (is_folder && n && key[n - 1] == '/')
		n--;
	name = str_basename(arena_strn(r->arena, key, n));
	if (*name && r->names->n < NAMES_MAX)
		strv_add(r->arena, r->names, name);
}

static void on_list_leaf(struct reader *r, const char *parent, const char *name, const char *text)
{
	if (str_eq(parent, "Contents") && str_eq(name, "Key"))
		add_name(r, text, false);
	else if (str_eq(parent, "CommonPrefixes") && str_eq(name, "Prefix"))
		add_name(r, text, true);
	else if (str_eq(name, "IsTruncated"))
		r->truncated = str_eq(text, "true");
	else if (str_eq(name, "NextContinuationToken"))
		r->token = arena_str(r->arena, text);
}

int s3_list_parse(struct arena *a, const char *xml, size_t n, struct strv *names,
		  const char **ret_token, struct err *e)
{
	struct reader r = { .arena = a, .leaf = on_list_leaf, .names = names };

	if (!read_xml(&r, "ListBucketResult", xml, n))
		return err_fail(e, ERR_NET, EPROTO, "the answer is no ListBucketResult of S3");
	/* half a list would be taken for the whole one */
	if (r.truncated && !r.token)
		return err_fail(e, ERR_NET, EPROTO,
				"the list is truncated and says not how to go on");
	*ret_token = r.truncated ? r.token : NULL;
	return 0;
}

/* Somebody else's text on a line of ours. */
static const char *one_line(struct arena *a, const char *text)
{
	char *s = str_trim(a, text);

	for (char *p = s; *p; p++)
		if (iscntrl((unsigned char)*p))
			*p = ' ';
	return s;
}

static void on_error_leaf(struct reader *r, const char *parent, const char *name, const char *text)
{
	if (!str_eq(parent, "Error"))
		return;
	if (str_eq(name, "Code"))
		r->code = one_line(r->arena, text);
	else if (str_eq(name, "Message"))
		r->message = one_line(r->arena, text);
	else if (str_eq(name, "RequestId"))
		r->request_id = one_line(r->arena, text);
}

/* What came is cut when it is long: what was read until then counts. */
static bool read_error(struct reader *r, const char *xml, size_t n)
{
	r->leaf = on_error_leaf;
	(void)read_xml(r, "Error", xml, n);
	return str_eq(r->path[0], "Error") && r->code;
}

const char *s3_error_code(struct arena *a, const char *xml, size_t n)
{
	struct reader r = { .arena = a };

	return read_error(&r, xml, n) ? r.code : NULL;
}

void s3_explain(struct arena *a, const char *xml, size_t n, struct err *e)
{
	struct reader r = { .arena = a };
	size_t len = strlen(e->msg);

	if (!read_error(&r, xml, n))
		return;
	(void)snprintf(e->msg + len, sizeof(e->msg) - len, " %s%s%s%s%s", r.code,
		       r.message ? ": " : "", r.message ? r.message : "",
		       r.request_id ? ", request " : "", r.request_id ? r.request_id : "");
}
