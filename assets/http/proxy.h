/* proxy.h - the proxy of a URL, by the environment
 * Reads the environment once, when the engine starts: reading it during a setenv is not safe. Proxies are parsed and
 * their errors worded here, since curl's message on an unreadable proxy quotes it with its password.
 * Owner: the arena. Errors: none. Threads: read-only after proxy_load. Source: curl's and Go's rules; upper and
 * lower case, lower case first.
 * Tests: test_http.c, test_egress_proxy.py. */
#pragma once

#include "assets/url.h"
#include "nodeup/base/mem.h"

struct proxy {
	const char *url;   /* "" none; PROXY_OF_NO_USE if it cannot be read */
	const char *error; /* for people: a fault of the URL, or a name that does not resolve */
};

struct proxies {
	struct proxy http, https;
	const char *none; /* no_proxy: hosts, domains, CIDRs; "": not set */
};

/* A URL that curl refuses. curl gets it all the same, since curl decides which hosts need no proxy. */
#define PROXY_OF_NO_USE "http://0:0:0"

/* Reads http_proxy, https_proxy, all_proxy and no_proxy. */
struct proxies proxy_load(struct arena *a);
/* Returns the proxy for a URL. The proxy's URL is "" if no proxy is set, and for link-local addresses (instance
 * metadata). The caller applies `none` (no_proxy). */
const struct proxy *proxy_for(const struct proxies *p, const struct url *u);

/* The link-local addresses that this machine finds for names that a proxy is asked for. A result holds for a minute,
 * even if no address was found. Owner: the caller's storage. Units: monotonic ns. Threads: one. */
struct lookup {
	struct lookup_host *v;
	size_t n;
};

/* Returns the link-local address of the URL's host. "": the host has no such address; NULL: there is no result, or
 * the result is too old. */
const char *lookup_find(const struct lookup *l, const char *url, int64_t now_ns);
/* Notes the link-local address of the URL's host; "": it has none. */
void lookup_note(struct lookup *l, const char *url, const char *address, int64_t now_ns);
/* Releases the results. */
void lookup_done(struct lookup *l);
