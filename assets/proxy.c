#include "assets/proxy.h"

#include <stdlib.h>
#include "nodeup/base/str.h"

/* The first of the names that is set to something, else "". */
static const char *first_set(struct arena *a, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *value = getenv(names[i]);

		if (!str_is_empty(value))
			return str_trim(a, value);
	}
	return "";
}

struct proxies proxy_load(struct arena *a)
{
	static const char *const http[] = { "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY" };
	static const char *const https[] = { "https_proxy", "HTTPS_PROXY", "all_proxy",
					     "ALL_PROXY" };
	static const char *const none[] = { "no_proxy", "NO_PROXY" };

	return (struct proxies){
		.http = first_set(a, http, ARRAY_LEN(http)),
		.https = first_set(a, https, ARRAY_LEN(https)),
		.none = first_set(a, none, ARRAY_LEN(none)),
	};
}

const char *proxy_for(const struct proxies *p, const struct url *u)
{
	if (url_is_link_local(u))
		return "";
	return url_has_scheme(u, "https") ? p->https : p->http;
}
