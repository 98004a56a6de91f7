#include "nodeup/aws/s3.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/aws/endpoint.h"
#include "nodeup/aws/xml.h"
#include "nodeup/base/enc.h"
#include "nodeup/base/print.h"
#include "nodeup/base/show.h"

enum { NAMES_MAX = 100 * 1000 };

int s3_parse(struct arena *a, const char *location, struct s3_location *ret, struct err *e)
{
	const char *bucket, *slash;
	size_t n;

	if (!str_has_prefix(location, "s3://"))
		return err_config(e, "'%s': wanted s3://bucket/key", location);
	bucket = location + strlen("s3://");
	slash = strchrnul(bucket, '/');
	n = (size_t)(slash - bucket);
	/* the bucket becomes part of a host name; old buckets have capitals and underscores */
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

bool s3_is_foreign(void)
{
	const char *endpoint = s3_endpoint();

	return endpoint && str_eq(endpoint, getenv("S3_ENDPOINT"));
}

static bool fits_host(const char *bucket)
{
	/* no certificate covers a name with a dot, and no host name has capitals or underscores */
	return bucket[strspn(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0' &&
	       strlen(bucket) <= 63;
}

/* Returns scheme, host and the path before the key; ends in a slash. */
static char *bucket_url(struct arena *a, const char *bucket, const struct s3_place *at)
{
	const char *endpoint = s3_endpoint(), *domain = endpoint_domain(at->region);
	const char *service = at->dual_stack ? "s3.dualstack" : "s3";
	size_t n = endpoint ? strlen(endpoint) : 0;

	while (n && endpoint[n - 1] == '/')
		n--;
	if (endpoint)
		return arena_printf(a, "%s%.*s/%s/", strstr(endpoint, "://") ? "" : "https://",
				    (int)n, endpoint, bucket);
	if (!fits_host(bucket))
		return arena_printf(a, "https://%s.%s.%s/%s/", service, at->region, domain, bucket);
	return arena_printf(a, "https://%s.%s.%s.%s/", bucket, service, at->region, domain);
}

char *s3_object_url(struct arena *a, const struct s3_location *loc, const struct s3_place *at)
{
	return arena_printf(a, "%s%s", bucket_url(a, loc->bucket, at), enc_url(a, loc->key, true));
}

char *s3_list_url(struct arena *a, const struct s3_location *loc, const struct s3_place *at,
		  const char *token)
{
	const char *slash = *loc->key && !str_has_suffix(loc->key, "/") ? "%2F" : "";

	/* the parameters stand in the order that a signature needs */
	return arena_printf(a, "%s?%s%s%sdelimiter=%%2F&list-type=2&prefix=%s%s",
			    bucket_url(a, loc->bucket, at), token ? "continuation-token=" : "",
			    token ? enc_url(a, token, false) : "", token ? "&" : "",
			    enc_url(a, loc->key, false), slash);
}

/* Returns the last part of a key; "" for the folder itself. */
static void add_name(struct arena *a, struct strv *names, const char *key, bool is_folder)
{
	size_t n = strlen(key);
	const char *name;

	if (is_folder && n && key[n - 1] == '/')
		n--;
	name = str_basename(arena_strn(a, key, n));
	if (*name && names->n < NAMES_MAX)
		strv_add(a, names, name);
}

int s3_list_parse(struct arena *a, const char *xml, size_t n, struct strv *names,
		  const char **ret_token, struct err *e)
{
	bool whole;
	const struct xml *list = xml_parse(a, xml, n, &whole);
	const struct xml *token = xml_get(list, "NextContinuationToken");
	bool truncated = str_eq(xml_text(list, "IsTruncated"), "true");

	if (!whole || !str_eq(list->name, "ListBucketResult"))
		return err_fail(e, ERR_NET, EPROTO, "the answer is not a ListBucketResult of S3");
	for (const struct xml *x = list->first; x; x = x->next) {
		if (str_eq(x->name, "Contents"))
			add_name(a, names, xml_text(x, "Key"), false);
		else if (str_eq(x->name, "CommonPrefixes"))
			add_name(a, names, xml_text(x, "Prefix"), true);
	}
	/* fails, since the caller would take half a list for the whole list */
	if (truncated && !token)
		return err_fail(e, ERR_NET, EPROTO,
				"the list is truncated and says not how to go on");
	*ret_token = truncated ? token->text : NULL;
	return 0;
}

/* Returns a server's text, made fit for one line of ours; NULL if there is none. */
static const char *one_line(struct arena *a, const struct xml *x)
{
	return x ? show_prose(str_trim(a, x->text)) : NULL;
}

/* If a long answer was cut, only the elements before the cut count. */
static const struct xml *read_error(struct arena *a, const char *xml, size_t n)
{
	const struct xml *error = xml_parse(a, xml, n, NULL);

	return error && str_eq(error->name, "Error") && xml_get(error, "Code") ? error : NULL;
}

const char *s3_error_code(struct arena *a, const char *xml, size_t n)
{
	return one_line(a, xml_get(read_error(a, xml, n), "Code"));
}

void s3_explain(struct arena *a, const char *xml, size_t n, struct err *e)
{
	const struct xml *error = read_error(a, xml, n);
	const char *message = one_line(a, xml_get(error, "Message"));
	const char *request_id = one_line(a, xml_get(error, "RequestId"));
	size_t len = strlen(e->msg);

	if (!error)
		return;
	(void)print_to(e->msg + len, sizeof(e->msg) - len, " %s%s%s%s%s",
		       one_line(a, xml_get(error, "Code")), message ? ": " : "",
		       message ? message : "", request_id ? ", request " : "",
		       request_id ? request_id : "");
}
