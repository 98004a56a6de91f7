/* proxy.h - which proxy a URL goes through, by the environment
 * Read once, when the engine starts: the environment is not safe to read beside a setenv.
 * Owner: the arena. Errors: none. Threads: read-only after proxy_load.
 * Source: curl's and Go's rules; upper and lower case, lower case first. */
#pragma once

#include "assets/url.h"
#include "nodeup/base/mem.h"

struct proxies {
	const char *http, *https; /* "" none */
	const char *none;         /* no_proxy: hosts, domains, CIDRs; "" none */
};

/* Read http_proxy, https_proxy, all_proxy and no_proxy. */
struct proxies proxy_load(struct arena *a);
/* The proxy's URL, "" for none. Link-local addresses (instance metadata) never have one; whether
 * `none` exempts the host is left to the caller. */
const char *proxy_for(const struct proxies *p, const struct url *u);
