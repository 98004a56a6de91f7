#include "assets/http/lookup.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "assets/url.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/mem.h"

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
