#include "assets/fetch_answer.h"

#include "nodeup/base/dur.h"

/* What of an answer belongs to what is here already; < 0 when nothing does. */
static int take_answer(struct fetch_job *j, const struct http_result *res, struct err *e)
{
	const struct fetch_mirror *m = &j->mirrors[j->current];
	uint64_t have = cache_size(j->entry);
	struct cache_origin now;
	int r = 0;

	j->headed = true;
	j->answer = range_judge(cache_origin_of(j->entry), m->url, have, res, &now);
	if (j->answer == RANGE_CHANGED)
		return err_fail(e, ERR_NET, ESTALE, "GET '%s': the object changed", m->public);
	if (j->answer == RANGE_WHOLE && have > 0)
		r = cache_restart(j->entry, e);
	if (r < 0)
		return r;
	j->mixed = j->answer != RANGE_WHOLE;
	cache_set_origin(j->entry, &now);
	(void)pthread_mutex_lock(&j->fetcher->lock);
	j->bytes = (int64_t)cache_size(j->entry);
	j->total = now.total;
	fetch_pace_begin(&j->pace, dur_now(), j->bytes);
	(void)pthread_mutex_unlock(&j->fetcher->lock);
	return 0;
}

void fetch_answer_head(void *arg, const struct http_result *res)
{
	struct fetch_job *j = arg;
	struct err e = { .kind = ERR_NONE };

	(void)take_answer(j, res, &e);
	(void)pthread_mutex_lock(&j->fetcher->lock);
	j->err = e;
	(void)pthread_mutex_unlock(&j->fetcher->lock);
}

/* The lock is held: whether another mirror shall go on. */
static bool is_slow(struct fetch_job *j, double *ret_rate)
{
	struct fetcher *f = j->fetcher;
	int64_t now = dur_now();
	size_t moving = 0;

	if (!fetch_pace_is_due(&j->pace, now))
		return false;
	for (const struct fetch_job *other = f->jobs; other; other = other->next)
		moving += other->state == FETCH_MOVING;
	return fetch_pace_is_slow(&j->pace, now, j->bytes, j->total, moving, &f->hosts, ret_rate) &&
	       fetch_job_has_other(j, now);
}

int fetch_answer_data(void *arg, const void *p, size_t n, struct err *e)
{
	struct fetch_job *j = arg;
	double rate = 0;
	bool slow;
	int r;

	if (j->err.kind != ERR_NONE) {
		*e = j->err;
		return -e->errnum;
	}
	(void)pthread_mutex_lock(&j->fetcher->lock);
	j->bytes += (int64_t)n;
	slow = is_slow(j, &rate);
	(void)pthread_mutex_unlock(&j->fetcher->lock);
	r = cache_write(j->entry, p, n, e);
	if (r >= 0 && slow)
		r = err_fail(e, ERR_NET, ETIMEDOUT,
			     "GET '%s': slow: %.3g kB/s, and the best of this run was %.3g kB/s",
			     j->mirrors[j->current].public, rate / 1000,
			     j->fetcher->hosts.best / 1000);
	return r;
}

void fetch_answer_failed(struct fetch_job *j, const struct http_result *res)
{
	const char *url = j->mirrors[j->current].url;
	struct url u = url_split(url);
	int status = res->status;

	if (url_has_scheme(&u, "file") || (status / 100 == 4 && status != 408 && status != 429))
		return;
	(void)pthread_mutex_lock(&j->fetcher->lock);
	fetch_hosts_note(&j->fetcher->hosts, url, FETCH_HOST_BAD);
	(void)pthread_mutex_unlock(&j->fetcher->lock);
}

bool fetch_answer_is_about_range(struct fetch_job *j, const struct http_result *res)
{
	struct err e;

	if (res->status == 416 && cache_size(j->entry) > 0)
		(void)take_answer(j, res, &e);
	return j->headed && (j->answer == RANGE_COMPLETE || j->answer == RANGE_CHANGED);
}
