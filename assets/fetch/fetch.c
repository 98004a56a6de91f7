#include "assets/fetch/fetch.h"

#include <stdlib.h>
#include "assets/fetch/run.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"

enum {
	CONNECTIONS = HTTP_REQUESTS_MAX,
	JOB_CONNECTIONS = 8,
	MIRROR_CONNECTIONS = 6,
	PATIENCE_S = 3,
	STUCK_S = 60,
	THREADS_MIN = 2,
	THREADS_MAX = 8,
};

static const uint64_t range_bytes = UINT64_C(8) << 20;

void fetch_tune(struct fetcher *f, const struct fetch_opts *opts)
{
	f->opts = *opts;
	if (!f->opts.range_bytes)
		f->opts.range_bytes = range_bytes;
	if (!f->opts.connections)
		f->opts.connections = CONNECTIONS;
	if (!f->opts.job_connections)
		f->opts.job_connections = JOB_CONNECTIONS;
	if (!f->opts.mirror_connections)
		f->opts.mirror_connections = MIRROR_CONNECTIONS;
	if (!f->opts.patience_ns)
		f->opts.patience_ns = PATIENCE_S * DUR_SEC;
	if (!f->opts.stuck_ns)
		f->opts.stuck_ns = STUCK_S * DUR_SEC;
}

void fetch_set_sink(struct fetcher *f, const struct fetch_sink *sink)
{
	fetch_lock(f);
	f->sink = *sink;
	fetch_unlock(f);
}

int fetch_new(struct http *http, struct cache *cache, struct fetcher **ret, struct err *e)
{
	struct fetcher *f = xcalloc(1, sizeof(*f));
	int r = pool_new(THREADS_MIN, THREADS_MAX, &f->work, e);

	if (r < 0) {
		free(f);
		return r;
	}
	f->http = http;
	f->cache = cache;
	(void)pthread_mutex_init(&f->lock, NULL);
	(void)pthread_cond_init(&f->changed, NULL);
	fetch_run_init(f);
	fetch_queue_init(f);
	fetch_tune(f, &(struct fetch_opts){ 0 });
	*ret = f;
	return 0;
}

static struct fetch_job *find_job(struct fetcher *f, const struct digest *d)
{
	struct fetch_job *j = f->jobs;

	while (j && !digest_eq(&j->digest, d))
		j = j->next;
	return j;
}

static struct fetch_job *add_job(struct fetcher *f, const struct asset *as)
{
	struct fetch_job *j = xcalloc(1, sizeof(*j));

	j->fetcher = f;
	j->asks = j->found_other.asks = -1;
	j->digest = as->digest;
	j->next = f->jobs;
	f->jobs = j;
	return j;
}

static void tell_nobody(void *arg, int r, const struct err *e)
{
	(void)arg;
	(void)r;
	(void)e;
}

/* Leaves the job to the caller that starts it. The lock is held. */
static void hand_over(struct fetch_job *j)
{
	struct fetch_waiter **p = &j->waiters;

	j->begun_ns = 0;
	while (*p) {
		struct fetch_waiter *w = *p;

		if (w->done != tell_nobody) {
			p = &w->next;
			continue;
		}
		*p = w->next;
		free(w);
	}
}

void fetch_begin(struct fetcher *f, const struct asset *as)
{
	fetch_start(f, as, tell_nobody, NULL);
}

int64_t fetch_begun(struct fetcher *f, const struct asset *as)
{
	const struct fetch_job *j;
	int64_t begun_ns;

	fetch_lock(f);
	j = find_job(f, &as->digest);
	begun_ns = j ? j->begun_ns : 0;
	fetch_unlock(f);
	return begun_ns;
}

void fetch_start(struct fetcher *f, const struct asset *as, fetch_done_fn *done, void *arg)
{
	struct fetch_waiter *w = xcalloc(1, sizeof(*w));
	struct fetch_job *j;

	w->as = as;
	w->done = done;
	w->arg = arg;
	fetch_lock(f);
	j = find_job(f, &as->digest);
	if (!j)
		j = add_job(f, as);
	if (done == tell_nobody)
		j->begun_ns = dur_now();
	else
		hand_over(j);
	w->next = j->waiters;
	j->waiters = w;
	fetch_job_want_members(j, as);
	if (j->state == FETCH_IDLE) {
		fetch_job_add_mirrors(j, as);
		fetch_run_begin(j);
	} else {
		j->news = true; /* only the thread that moves the job may change its mirrors */
	}
	fetch_unlock(f);
}

static void on_cancelled(void *arg, int r)
{
	(void)r;
	fetch_run_cancelled(arg);
}

static void tell_cancelled(void *arg)
{
	on_cancelled(arg, 0);
}

/* The lock is held. */
static void cancel_waiters(struct fetch_job *j, const struct asset *as)
{
	struct fetcher *f = j->fetcher;
	bool any = false;

	for (struct fetch_waiter *w = j->waiters; w; w = w->next)
		if (!w->cancelled && (!as || w->as == as))
			any = w->cancelled = true;
	if (!any)
		return;
	f->pending++;
	if (f->http)
		(void)http_after(f->http, 0, on_cancelled, j);
	else
		pool_send(f->work, tell_cancelled, j);
}

void fetch_cancel(struct fetcher *f, const struct asset *as)
{
	struct fetch_job *j;

	fetch_lock(f);
	j = find_job(f, &as->digest);
	if (j)
		cancel_waiters(j, as);
	fetch_unlock(f);
}

bool fetch_has_refused(struct fetcher *f, const struct asset *as, struct err *e)
{
	const struct fetch_job *j;
	bool refused;

	fetch_lock(f);
	j = find_job(f, &as->digest);
	/* a refusal counts only for an archive of the same name: the name decides how the archive is unpacked, and
	 * the message quotes it */
	refused = j && j->refused && str_eq(j->archive->name, as->name);
	if (refused)
		*e = *j->refused;
	fetch_unlock(f);
	return refused;
}

bool fetch_unpacks(struct fetcher *f, const struct asset *as)
{
	const struct fetch_job *j;
	bool unpacks;

	fetch_lock(f);
	j = find_job(f, &as->digest);
	unpacks = j && j->unpacks;
	fetch_unlock(f);
	return unpacks;
}

static void note_other(const struct fetch_job *j, struct fetch_status *ret)
{
	const struct cache_writer *w = &j->other;

	if (!j->other_since_ns)
		return;
	ret->since_ns = j->other_since_ns;
	if (w->pid)
		(void)print_to(ret->other, sizeof(ret->other), "process %d (%s)", w->pid, w->name);
	else
		(void)print_to(ret->other, sizeof(ret->other), "another process");
}

bool fetch_status(struct fetcher *f, const struct asset *as, struct fetch_status *ret)
{
	struct fetch_job *j;

	fetch_lock(f);
	j = find_job(f, &as->digest);
	if (j) {
		const struct fetch_mirror *m = j->nmirrors ? &j->mirrors[j->current] : NULL;

		*ret = (struct fetch_status){
			.bytes = j->bytes,
			.total = j->total,
			.attempt = j->attempt,
			.next_try_ns = j->next_try_ns,
			.waited_ns = j->waited_ns,
			.unpacker_ns = __atomic_load_n(&j->unpacker_ns, __ATOMIC_RELAXED),
		};
		(void)print_to(ret->url, sizeof(ret->url), "%s", m ? m->public : "");
		(void)print_to(ret->last_error, sizeof(ret->last_error), "%s", j->last_error);
		note_other(j, ret);
	}
	fetch_unlock(f);
	return j;
}

void fetch_free(struct fetcher *f)
{
	struct fetch_job *next;

	if (!f)
		return;
	fetch_lock(f);
	f->closing = true;
	for (struct fetch_job *j = f->jobs; j; j = j->next)
		cancel_waiters(j, NULL);
	if (f->tick_id)
		http_cancel(f->http, f->tick_id);
	while (f->pending)
		(void)pthread_cond_wait(&f->changed, &f->lock);
	fetch_unlock(f);
	pool_free(f->work);
	for (struct fetch_job *j = f->jobs; j; j = next) {
		next = j->next;
		fetch_job_free(j);
	}
	fetch_hosts_free(&f->hosts);
	(void)pthread_cond_destroy(&f->changed);
	(void)pthread_mutex_destroy(&f->lock);
	free(f);
}
