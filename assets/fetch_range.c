#include "assets/fetch_range.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *header(const struct http_result *res, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; res->headers[i]; i++)
		if (strncmp(res->headers[i], name, n) == 0 && res->headers[i][n] == ':')
			return res->headers[i] + n + 2;
	return "";
}

/* Copy what can be kept in a line of a file and sent back; else "". */
static void keep(char *out, size_t size, const char *text)
{
	out[0] = '\0';
	for (const char *p = text; *p; p++)
		if (!isprint((unsigned char)*p))
			return;
	if (strlen(text) < size)
		(void)snprintf(out, size, "%s", text);
}

static bool is_same_mirror(const struct cache_origin *o, const char *url)
{
	char public[URL_PUBLIC_MAX];

	return strcmp(o->url, url_public(url, public)) == 0;
}

/* What may be compared byte for byte: a weak tag says less. */
static const char *validator(const struct cache_origin *o)
{
	if (o->etag[0] == '"')
		return o->etag;
	return o->modified[0] ? o->modified : NULL;
}

bool range_can_resume(const struct cache_origin *o, const char *url)
{
	return o->total >= 0 || (validator(o) && is_same_mirror(o, url));
}

void range_ask(const struct cache_origin *o, const char *url, uint64_t have, struct arena *a,
	       struct strv *headers)
{
	strv_add(a, headers, arena_printf(a, "Range: bytes=%" PRIu64 "-", have));
	if (validator(o) && is_same_mirror(o, url))
		strv_add(a, headers, arena_printf(a, "If-Range: %s", validator(o)));
}

/* A decimal number at *p, which moves behind it and the character `end`; -1 if there is none. */
static int64_t take_number(const char **p, char end)
{
	char *stop;
	long long v;

	if (!isdigit((unsigned char)**p))
		return -1;
	errno = 0;
	v = strtoll(*p, &stop, 10);
	if (errno != 0 || *stop != end)
		return -1;
	*p = stop + (end != '\0');
	return v;
}

/* "bytes 5-9/10", "bytes 5-9/", with a star for what is not known, and "bytes", star, "/10". */
static void parse_content_range(const char *text, int64_t *ret_first, int64_t *ret_total)
{
	*ret_first = *ret_total = -1;
	if (strncasecmp(text, "bytes ", 6) != 0)
		return;
	text += 6;
	if (*text == '*') {
		text += text[1] == '/' ? 2 : 1;
	} else {
		int64_t first = take_number(&text, '-');

		if (first < 0 || take_number(&text, '/') < first)
			return;
		*ret_first = first;
	}
	*ret_total = take_number(&text, '\0');
}

static bool differs(const char *before, const char *now)
{
	return *before && *now && strcmp(before, now) != 0;
}

enum range_answer range_judge(const struct cache_origin *o, const char *url, uint64_t have,
			      const struct http_result *res, struct cache_origin *ret_o)
{
	int64_t first, total;

	*ret_o = (struct cache_origin){ .total = res->content_length };
	(void)url_public(url, ret_o->url);
	keep(ret_o->etag, sizeof(ret_o->etag), header(res, "etag"));
	keep(ret_o->modified, sizeof(ret_o->modified), header(res, "last-modified"));
	if (have == 0 || (res->status != 206 && res->status != 416))
		return RANGE_WHOLE;
	parse_content_range(header(res, "content-range"), &first, &total);
	ret_o->total = total >= 0 ? total : o->total;
	if (res->status == 416)
		return total >= 0 && (uint64_t)total == have ? RANGE_COMPLETE : RANGE_CHANGED;
	if (first < 0 || (uint64_t)first != have || (o->total >= 0 && ret_o->total != o->total))
		return RANGE_CHANGED;
	if (is_same_mirror(o, url) &&
	    (differs(o->etag, ret_o->etag) || differs(o->modified, ret_o->modified)))
		return RANGE_CHANGED;
	return RANGE_REST;
}
