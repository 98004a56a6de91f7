#include "assets/fetch_blame.h"

#include "nodeup/base/dur.h"

static void lock(struct fetcher *f)
{
	(void)pthread_mutex_lock(&f->lock);
}

static void unlock(struct fetcher *f)
{
	(void)pthread_mutex_unlock(&f->lock);
}

void fetch_blame_mirror(struct fetch_job *j, size_t mirror, const struct err *e,
			const struct http_result *res)
{
	struct fetch_mirror *m = &j->mirrors[mirror];
	int64_t after = res ? res->retry_after_ns : -1;
	bool throttles = res && (res->status == 429 || res->status == 503);

	lock(j->fetcher);
	if (j->bytes > j->best)
		j->best = j->bytes;
	fetch_job_failed(j, mirror, e, after > 0 ? dur_now() + after : 0);
	j->throttled = j->throttled || throttles;
	if (throttles && m->active > 0) {
		/* not of all connections: fewer, and no new one before it wants one */
		m->limit = m->active;
		m->failed = false;
	}
	unlock(j->fetcher);
}

void fetch_blame_host(struct fetch_job *j, size_t mirror, int status)
{
	const char *url = j->mirrors[mirror].url;
	struct url u = url_split(url);

	if (url_has_scheme(&u, "file") || (status / 100 == 4 && status != 408 && status != 429))
		return;
	lock(j->fetcher);
	fetch_hosts_note(&j->fetcher->hosts, url, FETCH_HOST_BAD);
	unlock(j->fetcher);
}
