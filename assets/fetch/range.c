#include "assets/fetch/range.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/print.h"

/* Copies the text if it fits into a line of a file and can be sent back; otherwise writes "". */
static void copy_mark(char *out, size_t size, const char *text)
{
	out[0] = '\0';
	for (const char *p = text; *p; p++)
		if (!isprint((unsigned char)*p))
			return;
	if (strlen(text) < size)
		(void)print_to(out, size, "%s", text);
}

/* `public` must not be empty. */
static const struct cache_mark *find_mark(const struct cache_origin *o, const char *public)
{
	for (size_t i = 0; i < CACHE_MARKS; i++)
		if (strcmp(o->marks[i].url, public) == 0)
			return &o->marks[i];
	return NULL;
}

const struct cache_mark *range_mark_of(const struct cache_origin *o, const char *url)
{
	char public[URL_PUBLIC_MAX];

	return find_mark(o, url_public(url, public));
}

/* Returns an ETag or a date that can be compared byte for byte, or NULL. A weak ETag cannot be compared. */
static const char *validator_of(const struct cache_mark *m)
{
	if (m && m->etag[0] == '"')
		return m->etag;
	return m && m->modified[0] ? m->modified : NULL;
}

bool range_can_resume(const struct cache_origin *o, const char *url)
{
	return o->total >= 0 || validator_of(range_mark_of(o, url));
}

void range_ask(const struct cache_origin *o, const struct range_asked *asked, struct arena *a,
	       struct strv *headers)
{
	const char *mark = validator_of(range_mark_of(o, asked->url));

	if (!asked->ranged)
		return;
	if (asked->end == UINT64_MAX)
		strv_add(a, headers, arena_printf(a, "Range: bytes=%" PRIu64 "-", asked->first));
	else
		strv_add(a, headers,
			 arena_printf(a, "Range: bytes=%" PRIu64 "-%" PRIu64, asked->first,
				      asked->end - 1));
	if (mark)
		strv_add(a, headers, arena_printf(a, "If-Range: %s", mark));
}

/* Reads a decimal number at *p and moves *p past it and the character `end`; -1: there is none. */
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

/* Reads "bytes 5-9/10", "bytes 5-9/", with a star for an unknown number, and "bytes", star, "/10". */
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

static bool marks_differ(const char *before, const char *now)
{
	return *before && *now && strcmp(before, now) != 0;
}

/* Notes how a mirror identifies the object, in the place of this mirror. A new mirror gets a free place, or the
 * place of the oldest if no place is free. */
static void set_mark(struct cache_origin *o, const struct cache_mark *mark)
{
	size_t i = 0;

	while (i < CACHE_MARKS && o->marks[i].url[0] && strcmp(o->marks[i].url, mark->url) != 0)
		i++;
	if (i == CACHE_MARKS) {
		memmove(&o->marks[0], &o->marks[1], (CACHE_MARKS - 1) * sizeof(o->marks[0]));
		i--;
	}
	o->marks[i] = *mark;
}

/* Returns whether the answer is about another object: the length has changed, or this mirror gives another ETag or
 * date than before. */
static bool is_other(const struct cache_origin *o, const struct cache_mark *now, int64_t total)
{
	const struct cache_mark *before = find_mark(o, now->url);

	return (o->total >= 0 && total >= 0 && o->total != total) ||
	       (before && (marks_differ(before->etag, now->etag) ||
			   marks_differ(before->modified, now->modified)));
}

enum range_answer range_judge(const struct cache_origin *o, const struct range_asked *asked,
			      const struct http_result *res, struct cache_origin *ret_o)
{
	struct cache_mark mark = { 0 };
	int64_t first = -1, total = res->content_length;

	(void)url_public(asked->url, mark.url);
	copy_mark(mark.etag, sizeof(mark.etag), http_header(res->headers, "etag"));
	copy_mark(mark.modified, sizeof(mark.modified), http_header(res->headers, "last-modified"));
	if (res->status == 206 || res->status == 416)
		parse_content_range(http_header(res->headers, "content-range"), &first, &total);
	if (is_other(o, &mark, total))
		return RANGE_CHANGED;
	*ret_o = *o;
	set_mark(ret_o, &mark);
	if (total >= 0)
		ret_o->total = total;
	if (res->status == 416)
		return asked->ranged && total >= 0 && (uint64_t)total == asked->first
			       ? RANGE_COMPLETE
			       : RANGE_REFUSED;
	if (res->status != 206)
		return RANGE_WHOLE;
	return asked->ranged && first >= 0 && (uint64_t)first == asked->first ? RANGE_REST
									      : RANGE_REFUSED;
}
