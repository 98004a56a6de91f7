#include "nodeup/documents/op.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "assets/url.h"

/* source: characters that nginx, Apache and Python's http.server escape in an attribute */
static const struct {
	const char *entity;
	char c;
} entities[] = {
	{ "&amp;", '&' },   { "&quot;", '"' }, { "&#39;", '\'' },
	{ "&#x27;", '\'' }, { "&lt;", '<' },   { "&gt;", '>' },
};

static char *unescape(struct arena *a, const char *text, size_t n)
{
	char *out = arena_strn(a, text, n), *w = out;

	for (const char *p = out; *p; w++) {
		size_t used = 1;

		*w = *p;
		for (size_t i = 0; i < ARRAY_LEN(entities); i++)
			if (str_has_prefix(p, entities[i].entity)) {
				*w = entities[i].c;
				used = strlen(entities[i].entity);
				break;
			}
		p += used;
	}
	*w = '\0';
	return out;
}

/* Decodes %xx in place. Returns false if the result cannot be a name. */
static bool decode(char *name)
{
	char *w = name;

	for (const char *p = name; *p; p++) {
		char hex[3] = { 0 };

		*w = *p;
		if (*p == '%') {
			if (!isxdigit((unsigned char)p[1]) || !isxdigit((unsigned char)p[2]))
				return false;
			memcpy(hex, p + 1, 2);
			*w = (char)strtol(hex, NULL, 16);
			p += 2;
		}
		if (*w == '\0' || *w == '/')
			return false;
		w++;
	}
	*w = '\0';
	return true;
}

/* Returns the name in a link to an object directly below `folder`, the path of the page; else NULL. */
static char *name_of(struct arena *a, const char *link, const char *folder)
{
	size_t n = strcspn(link, "?#");
	char *name;

	if (str_has_prefix(link, folder)) {
		link += strlen(folder);
		n -= n < strlen(folder) ? n : strlen(folder);
	} else if (str_has_prefix(link, "./")) {
		link += 2;
		n -= 2;
	} else if (link[strcspn(link, ":/?#")] == ':') {
		return NULL; /* the link has a scheme */
	}
	if (n && link[n - 1] == '/')
		n--;
	name = arena_strn(a, link, n);
	/* the link leads to another folder, or only sorts the page */
	if (!*name || !decode(name) || str_eq(name, ".") || str_eq(name, ".."))
		return NULL;
	return name;
}

void store_index_names(struct arena *a, const char *url, const char *html, struct strv *names)
{
	struct url u = url_split(url);
	char *folder = arena_printf(a, "%.*s/", (int)u.path_n, u.path ? u.path : "");

	while ((html = strcasestr(html, "href="))) {
		const char *end;
		char quote, *name;

		html += strlen("href=");
		quote = *html;
		if (quote != '"' && quote != '\'')
			continue;
		end = strchr(++html, quote);
		if (!end)
			return;
		name = name_of(a, unescape(a, html, (size_t)(end - html)), folder);
		if (name && !strv_has(names, name))
			strv_add(a, names, name);
		html = end;
	}
}
