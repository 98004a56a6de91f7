/* proxy.h - which proxy a URL goes through, by the environment
 * Read once, when the engine starts: the environment is not safe to read beside a setenv.
 * A proxy's URL may hold a password, and curl's words on one that it cannot read quote it whole: so they
 * are read here first, and what is said of them is said here.
 * Owner: the arena. Errors: none. Threads: read-only after proxy_load.
 * Source: curl's and Go's rules; upper and lower case, lower case first.
 * Tests: test_http.c, test_egress_proxy.py. */
#pragma once

#include "assets/url.h"
#include "nodeup/base/mem.h"

struct proxy {
	const char *url;   /* "" none; PROXY_OF_NO_USE when it cannot be read */
	const char *error; /* for people: what is wrong, or that its name leads nowhere */
};

struct proxies {
	struct proxy http, https;
	const char *none; /* no_proxy: hosts, domains, CIDRs; "" none */
};

/* curl takes it for no URL. It is asked all the same: which hosts need no proxy is for it to say. */
#define PROXY_OF_NO_USE "http://0:0:0"

/* Read http_proxy, https_proxy, all_proxy and no_proxy. */
struct proxies proxy_load(struct arena *a);
/* The proxy, its URL "" for none. Link-local addresses (instance metadata) never have one; whether
 * `none` exempts the host is left to the caller. */
const struct proxy *proxy_for(const struct proxies *p, const struct url *u);

/* Where names lead that a proxy is asked for, as far as this machine can tell. It holds for a minute, also that nothing was
 * found. Owner: the caller's storage. Units: monotonic ns. Threads: one. */
struct lookup {
	struct lookup_host *v;
	size_t n;
};

/* Returns the link-local address that the URL's host leads to; "" none, NULL not known (any more). */
const char *lookup_find(const struct lookup *l, const char *url, int64_t now_ns);
/* Note that address, or "". */
void lookup_note(struct lookup *l, const char *url, const char *address, int64_t now_ns);
/* Release. */
void lookup_done(struct lookup *l);
