#include "assets/fetch/blame.h"

#include "nodeup/base/dur.h"

static void lock(struct fetcher *f)
{
	(void)pthread_mutex_lock(&f->lock);
}

static void unlock(struct fetcher *f)
{
	(void)pthread_mutex_unlock(&f->lock);
}

/* It says no, rather than that something went wrong. */
static bool is_no(int status)
{
	return status / 100 == 4 && status != 408 && status != 429;
}

/* Of several connections one has failed, and the mirror is all there is or has said why: it is asked by
 * fewer, and none begins before one of those has ended well. */
static bool only_wants_fewer(const struct fetch_job *j, size_t mirror,
			     const struct http_result *res, bool throttles)
{
	const struct fetch_mirror *m = &j->mirrors[mirror];

	if (!res || m->active == 0 || m->dropped)
		return false;
	return throttles || (!is_no(res->status) && !fetch_job_has_other(j, mirror, dur_now()));
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
	if (only_wants_fewer(j, mirror, res, throttles)) {
		m->limit = m->active;
		m->came_well = 0;
		m->failed = false;
	}
	unlock(j->fetcher);
}

void fetch_blame_less(struct fetch_job *j, size_t mirror)
{
	struct fetch_mirror *m = &j->mirrors[mirror];

	lock(j->fetcher);
	if (m->limit < SIZE_MAX && ++m->came_well >= m->limit) {
		m->limit++;
		m->came_well = 0;
	}
	unlock(j->fetcher);
}

void fetch_blame_host(struct fetch_job *j, size_t mirror, int status)
{
	const char *url = j->mirrors[mirror].url;
	struct url u = url_split(url);

	if (url_has_scheme(&u, "file") || is_no(status))
		return;
	lock(j->fetcher);
	fetch_hosts_note(&j->fetcher->hosts, url, FETCH_HOST_BAD);
	unlock(j->fetcher);
}
