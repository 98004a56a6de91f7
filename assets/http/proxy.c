#include "assets/http/proxy.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/str.h"

/* how long a result stays: an asset in a hundred ranges is not looked up a hundred times */
#define HOLDS_NS (60 * DUR_SEC)

struct lookup_host {
	char *name, *address;
	int64_t at_ns;
};

static struct lookup_host *find_host(const struct lookup *l, const struct url *u)
{
	for (size_t i = 0; i < l->n; i++)
		if (strlen(l->v[i].name) == u->host_n &&
		    strncasecmp(l->v[i].name, u->host, u->host_n) == 0)
			return &l->v[i];
	return NULL;
}

const char *lookup_find(const struct lookup *l, const char *url, int64_t now_ns)
{
	struct url u = url_split(url);
	const struct lookup_host *host = find_host(l, &u);

	return host && now_ns - host->at_ns < HOLDS_NS ? host->address : NULL;
}

void lookup_note(struct lookup *l, const char *url, const char *address, int64_t now_ns)
{
	struct url u = url_split(url);
	struct lookup_host *host = find_host(l, &u);

	if (!host) {
		l->v = xrealloc(l->v, (l->n + 1) * sizeof(*l->v));
		host = &l->v[l->n++];
		*host = (struct lookup_host){ .name = xasprintf("%.*s", (int)u.host_n, u.host) };
	}
	free(host->address);
	host->address = xstrdup(address);
	host->at_ns = now_ns;
}

void lookup_done(struct lookup *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->v[i].name);
		free(l->v[i].address);
	}
	free(l->v);
	*l = (struct lookup){ 0 };
}

static bool is_port(const char *text, size_t n)
{
	unsigned int port = 0;

	for (size_t i = 0; i < n; i++) {
		if (!isdigit((unsigned char)text[i]) || port > UINT16_MAX)
			return false;
		port = port * 10 + (unsigned int)(text[i] - '0');
	}
	return port <= UINT16_MAX;
}

/* Returns whether the text has one of the forms name, name:, name:port, [address], [address]:port. */
static bool is_host(const char *text, size_t n)
{
	const char *end = text + n, *close = n && *text == '[' ? memchr(text, ']', n) : NULL;
	const char *colon = close ? close + 1 : memchr(text, ':', n);

	if (close) {
		for (const char *p = text + 1; p < close; p++)
			if (!isxdigit((unsigned char)*p) && !strchr(":.", *p))
				return false;
		if (colon == end)
			return close > text + 1;
		return *colon == ':' && is_port(colon + 1, (size_t)(end - colon - 1));
	}
	if (!colon)
		colon = end;
	for (const char *p = text; p < colon; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-._~", *p))
			return false;
	return colon > text && (colon == end || is_port(colon + 1, (size_t)(end - colon - 1)));
}

/* Returns why the text cannot be a proxy's URL, without quoting the text. NULL: the text can be one. */
static const char *fault_of(const char *url)
{
	static const char *const schemes[] = { "http",    "https",  "socks4",
					       "socks4a", "socks5", "socks5h" };
	const char *sep = strstr(url, "://"), *at = strrchr(url, '@'), *host;
	size_t n = strcspn(sep ? sep + 3 : url, "/?#");
	bool known = !sep;

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		known = known || (strlen(schemes[i]) == (size_t)(sep - url) &&
				  strncasecmp(url, schemes[i], strlen(schemes[i])) == 0);
	host = sep ? sep + 3 : url;
	for (const char *p = url; *p; p++)
		if (!isgraph((unsigned char)*p) || *p == '\\')
			return "it holds a blank, or a byte that a URL must have as %XX";
	if (at && (at >= host + n || memchr(host, '@', (size_t)(at - host))))
		return "in user and password '/', '?', '#' and '@' are %2F, %3F, %23 and %40";
	if (!known)
		return "its scheme is none of http, https, socks4, socks4a, socks5 and socks5h";
	if (at) {
		n -= (size_t)(at + 1 - host);
		host = at + 1;
	}
	return is_host(host, n) ? NULL
				: "after the scheme and what ends in '@' it has no host[:port]";
}

/* Returns the part of an unreadable proxy that may be shown: nothing before the last '@', where a password may be. */
static const char *shown_proxy(struct arena *a, const char *url)
{
	const char *at = strrchr(url, '@');

	return at ? arena_printf(a, " '...%.*s'", (int)strcspn(at, "/?#"), at) : "";
}

static struct proxy read_proxy(struct arena *a, const char *name, const char *url)
{
	const char *fault = fault_of(url);
	char public[URL_PUBLIC_MAX];

	if (fault)
		return (struct proxy){
			.url = PROXY_OF_NO_USE,
			.error = arena_printf(a, "the proxy%s of %s is of no use: %s",
					      shown_proxy(a, url), name, fault),
		};
	if (!strstr(url, "://"))
		url = arena_printf(a, "http://%s", url);
	return (struct proxy){
		.url = url,
		.error = arena_printf(a, "the name of the proxy '%s' of %s leads to no address",
				      url_public(url, public), name),
	};
}

/* Returns the first of the variables that is set and not empty. */
static struct proxy first_proxy(struct arena *a, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = getenv(names[i]);

		if (!str_is_empty(value))
			return read_proxy(a, names[i], str_trim(a, value));
	}
	return (struct proxy){ .url = "", .error = "" };
}

static const char *no_proxy(struct arena *a)
{
	const char *value = getenv("no_proxy");

	if (str_is_empty(value))
		value = getenv("NO_PROXY");
	return str_is_empty(value) ? "" : str_trim(a, value);
}

struct proxies proxy_load(struct arena *a)
{
	static const char *const http[] = { "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY" };
	static const char *const https[] = { "https_proxy", "HTTPS_PROXY", "all_proxy",
					     "ALL_PROXY" };

	return (struct proxies){
		.http = first_proxy(a, http, ARRAY_LEN(http)),
		.https = first_proxy(a, https, ARRAY_LEN(https)),
		.none = no_proxy(a),
	};
}

const struct proxy *proxy_for(const struct proxies *p, const struct url *u)
{
	static const struct proxy none = { .url = "", .error = "" };

	if (url_is_link_local(u))
		return &none;
	return url_has_scheme(u, "https") ? &p->https : &p->http;
}
