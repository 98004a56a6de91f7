#include "assets/fetch/hosts.h"

#include <stdlib.h>
#include <string.h>
#include "assets/url.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/mem.h"

enum { SLOWER = 10, WINDOWS_LEFT = 2 };

/* Long enough for a lost packet, a busy disk, or a server that serves others for a moment. */
static const int64_t window_ns = 5 * DUR_SEC;
/* A faster answer came out of a buffer on the way, and tells little about the line's speed. */
static const int64_t shortest_ns = DUR_SEC / 4;

struct fetch_host {
	char *url; /* any URL with the host's scheme and authority */
	enum fetch_rank rank;
};

static struct fetch_host *find_host(const struct fetch_hosts *h, const char *url)
{
	struct url wanted = url_split(url);

	for (size_t i = 0; i < h->n; i++) {
		struct url u = url_split(h->v[i].url);

		if (url_same_origin(&u, &wanted))
			return &h->v[i];
	}
	return NULL;
}

enum fetch_rank fetch_hosts_rank(const struct fetch_hosts *h, const char *url)
{
	const struct fetch_host *host = find_host(h, url);

	return host ? host->rank : FETCH_HOST_UNKNOWN;
}

void fetch_hosts_note(struct fetch_hosts *h, const char *url, enum fetch_rank rank)
{
	struct fetch_host *host = find_host(h, url);

	if (!host) {
		h->v = xrealloc(h->v, (h->n + 1) * sizeof(*h->v));
		host = &h->v[h->n++];
		host->url = xstrdup(url);
	}
	host->rank = rank;
}

void fetch_hosts_free(struct fetch_hosts *h)
{
	for (size_t i = 0; i < h->n; i++)
		free(h->v[i].url);
	free(h->v);
}

void fetch_pace_begin(struct fetch_pace *p, int64_t now_ns, int64_t bytes)
{
	p->began_ns = p->window_ns = now_ns;
	p->began_bytes = p->window_bytes = bytes;
}

static double rate_of(int64_t bytes, int64_t ns)
{
	return (double)bytes * DUR_SEC / (double)(ns < shortest_ns ? shortest_ns : ns);
}

void fetch_pace_end(const struct fetch_pace *p, int64_t now_ns, int64_t bytes,
		    struct fetch_hosts *h)
{
	double rate = rate_of(bytes - p->began_bytes, now_ns - p->began_ns);

	if (rate > h->best)
		h->best = rate;
}

bool fetch_pace_is_due(const struct fetch_pace *p, int64_t now_ns)
{
	return now_ns - p->window_ns >= window_ns;
}

bool fetch_pace_is_slow(struct fetch_pace *p, int64_t now_ns, int64_t bytes, int64_t total,
			size_t moving, struct fetch_hosts *h, double *ret_rate)
{
	double rate;

	rate = *ret_rate = rate_of(bytes - p->window_bytes, now_ns - p->window_ns);
	p->window_ns = now_ns;
	p->window_bytes = bytes;
	if (rate > h->best)
		h->best = rate;
	/* at this rate the transfer ends within a few windows, so it is not slow */
	if (total >= 0 && (double)(total - bytes) < rate * WINDOWS_LEFT * window_ns / DUR_SEC)
		return false;
	return rate * SLOWER * (double)moving < h->best;
}
