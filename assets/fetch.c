#include "assets/fetch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "assets/fetch_job.h"
#include "nodeup/base/dur.h"

enum { RETRY_AFTER_MAX_S = 60 };

static const uint64_t asset_bytes_max = UINT64_C(32) << 30;

/* Something the disk thread shall do with a job. */
struct errand {
	struct errand *next;
	void (*fn)(struct fetch_job *j);
	struct fetch_job *job;
};

struct fetcher {
	struct http *http; /* NULL: offline */
	struct cache *cache;
	pthread_t disk; /* hashes and syncs, so that the net thread never waits for a disk */

	pthread_mutex_t lock; /* what follows, and the jobs */
	pthread_cond_t changed;
	struct fetch_job *jobs;
	struct errand *first, **last;
	size_t pending; /* jobs that are not idle, and callbacks under way */
	bool stop;
};

static void lock(struct fetcher *f)
{
	(void)pthread_mutex_lock(&f->lock);
}

static void unlock(struct fetcher *f)
{
	(void)pthread_mutex_unlock(&f->lock);
}

/* The lock is held. */
static void send_errand(struct fetcher *f, void (*fn)(struct fetch_job *j), struct fetch_job *j)
{
	struct errand *errand = xcalloc(1, sizeof(*errand));

	errand->fn = fn;
	errand->job = j;
	*f->last = errand;
	f->last = &errand->next;
	(void)pthread_cond_broadcast(&f->changed);
}

static void *disk_main(void *arg)
{
	struct fetcher *f = arg;

	for (;;) {
		struct errand *errand;

		lock(f);
		while (!f->first && !f->stop)
			(void)pthread_cond_wait(&f->changed, &f->lock);
		errand = f->first;
		if (errand && !(f->first = errand->next))
			f->last = &f->first;
		unlock(f);
		if (!errand)
			return NULL;
		errand->fn(errand->job);
		free(errand);
	}
}

/* The lock is held: unlink the waiters that were cancelled, or all. */
static struct fetch_waiter *take_waiters(struct fetch_job *j, bool all)
{
	struct fetch_waiter *taken = NULL, **p = &j->waiters;

	while (*p) {
		struct fetch_waiter *w = *p;

		if (!all && !w->cancelled) {
			p = &w->next;
			continue;
		}
		*p = w->next;
		w->next = taken;
		taken = w;
	}
	return taken;
}

static void tell(struct fetch_job *j, struct fetch_waiter *w, int r, const struct err *e)
{
	struct fetch_waiter *next;
	struct err cancelled;

	(void)err_fail(&cancelled, ERR_NET, ECANCELED, "asset '%s': cancelled", j->name);
	for (; w; w = next) {
		next = w->next;
		if (w->cancelled)
			w->done(w->arg, -ECANCELED, &cancelled);
		else
			w->done(w->arg, r, r < 0 ? e : NULL);
		free(w);
	}
}

static void no_longer_pending(struct fetcher *f)
{
	lock(f);
	f->pending--;
	(void)pthread_cond_broadcast(&f->changed);
	unlock(f);
}

static void finish(struct fetch_job *j, int r, const struct err *e)
{
	struct fetcher *f = j->fetcher;
	struct fetch_waiter *waiters;

	lock(f);
	waiters = take_waiters(j, true);
	j->state = FETCH_IDLE;
	j->next_try_ns = 0;
	unlock(f);
	tell(j, waiters, r, e);
	no_longer_pending(f);
}

/* The lock is held. */
static bool is_wanted(const struct fetch_job *j)
{
	for (const struct fetch_waiter *w = j->waiters; w; w = w->next)
		if (!w->cancelled)
			return true;
	return false;
}

static void try_next(struct fetch_job *j);

static void on_timer(void *arg, int r)
{
	struct fetch_job *j = arg;

	(void)r; /* cancelled or due: whether anybody still wants it is asked there */
	try_next(j);
}

/* Every mirror has been asked: wait for the next round, or give up. */
static void end_round(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	uint32_t random = 0;
	struct err e;
	int64_t delay;
	int r;

	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	lock(f);
	delay = fetch_job_end_round(j, dur_now(), random);
	if (delay >= 0) {
		j->state = FETCH_WAITING;
		j->http_id = http_after(f->http, delay, on_timer, j);
		if (!is_wanted(j)) /* the canceller did not know this id */
			http_cancel(f->http, j->http_id);
		unlock(f);
		return;
	}
	r = fetch_job_verdict(j, &e);
	unlock(f);
	finish(j, r, &e);
}

static void on_head(void *arg, const struct http_result *res)
{
	struct fetch_job *j = arg;

	lock(j->fetcher);
	j->total = res->content_length;
	unlock(j->fetcher);
}

static int on_data(void *arg, const void *p, size_t n, struct err *e)
{
	struct fetch_job *j = arg;

	lock(j->fetcher);
	j->bytes += (int64_t)n;
	unlock(j->fetcher);
	return cache_write(j->entry, p, n, e);
}

/* A mirror failed: remember it, and go on with the next one at once. */
static void mirror_failed(struct fetch_job *j, const struct err *e, int64_t retry_after_ns)
{
	const int64_t longest = RETRY_AFTER_MAX_S * DUR_SEC;
	int64_t retry_at = 0;

	if (retry_after_ns > 0)
		retry_at = dur_now() + (retry_after_ns < longest ? retry_after_ns : longest);
	lock(j->fetcher);
	if (j->bytes > j->best)
		j->best = j->bytes;
	fetch_job_failed(j, e, retry_at);
	unlock(j->fetcher);
	try_next(j);
}

static void on_committed(void *arg, int r)
{
	struct fetch_job *j = arg;
	struct err e = j->err;

	(void)r; /* of the timer; the commit's verdict is in j->err */
	if (e.kind == ERR_NONE)
		finish(j, 0, NULL);
	else if (e.kind == ERR_INTEGRITY || e.kind == ERR_NET)
		mirror_failed(j, &e, -1);
	else
		finish(j, err_wrap(&e, "asset '%s'", j->name), &e);
}

/* What the cache said about the bytes, completed by what the transfer knows. */
static void explain(const struct fetch_job *j, struct err *e)
{
	const char *url = j->mirrors[j->current].public;

	if (e->kind != ERR_INTEGRITY)
		return;
	if (j->bytes == 0) {
		(void)err_fail(e, ERR_NET, ENODATA, "GET '%s': empty body", url);
		return;
	}
	(void)err_wrap(e, "GET '%s'", url);
	for (size_t i = 0; i < e->nnotes; i++)
		if (strcmp(e->notes[i].label, "size") == 0)
			(void)snprintf(e->notes[i].text, sizeof(e->notes[i].text), "%lld bytes%s",
				       (long long)j->bytes,
				       j->total == j->bytes
					       ? " = Content-Length, not truncated"
					       : ", no Content-Length, maybe truncated");
}

/* On the disk thread. */
static void commit(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	struct err e = { .kind = ERR_NONE };
	int r = cache_commit(j->entry, &e);

	lock(f);
	j->entry = NULL;
	if (r < 0)
		explain(j, &e);
	j->err = e;
	unlock(f);
	(void)http_after(f->http, 0, on_committed, j);
}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct fetch_job *j = arg;
	struct fetcher *f = j->fetcher;
	struct err failure;

	if (r >= 0) {
		lock(f);
		j->state = FETCH_COMMIT;
		j->total = res->content_length;
		send_errand(f, commit, j);
		unlock(f);
		return;
	}
	cache_abort(j->entry);
	j->entry = NULL;
	if (r == -ECANCELED) {
		/* nobody wants it, or somebody does again */
		lock(f);
		j->mirrors[j->current].tried = false;
		unlock(f);
		try_next(j);
	} else if (e->kind == ERR_NET) {
		mirror_failed(j, e, res->retry_after_ns);
	} else {
		failure = *e;
		finish(j, err_wrap(&failure, "asset '%s'", j->name), &failure);
	}
}

/* The lock is held. */
static void start_transfer(struct fetch_job *j)
{
	struct http_req req = {
		.url = j->mirrors[j->current].url,
		.max_bytes = asset_bytes_max,
		.head = on_head,
		.data = on_data,
		.done = on_done,
		.arg = j,
	};

	j->state = FETCH_MOVING;
	j->http_id = http_start(j->fetcher->http, &req);
	if (!is_wanted(j))
		http_cancel(j->fetcher->http, j->http_id);
}

static void try_next(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	struct err e;
	bool wanted, more;
	int r;

	lock(f);
	wanted = is_wanted(j);
	more = wanted && fetch_job_next_mirror(j, dur_now());
	unlock(f);
	if (!wanted) {
		finish(j, err_fail(&e, ERR_NET, ECANCELED, "asset '%s': cancelled", j->name), &e);
		return;
	}
	if (!more) {
		end_round(j);
		return;
	}
	r = cache_begin(f->cache, &j->digest, &j->entry, &e);
	if (r < 0) {
		finish(j, err_wrap(&e, "asset '%s'", j->name), &e);
		return;
	}
	lock(f);
	start_transfer(j);
	unlock(f);
}

/* On the net thread; offline on the disk thread. */
static void on_looked_up(void *arg, int r)
{
	struct fetch_job *j = arg;
	struct err e = j->err;

	(void)r; /* of the timer; the cache's answer is in j->err */
	if (e.kind == ERR_NONE)
		finish(j, 0, NULL);
	else if (e.errnum != ENOENT)
		finish(j, err_wrap(&e, "asset '%s'", j->name), &e);
	else if (j->fetcher->http)
		try_next(j);
	else
		finish(j,
		       err_fail(&e, ERR_NET, ENOENT, "asset '%s': offline, and not in the cache",
				j->name),
		       &e);
}

/* On the disk thread: an entry without a record is read as a whole. */
static void look_up(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	struct err e = { .kind = ERR_NONE };
	autoclose int fd = -1;

	if (cache_open(f->cache, &j->digest, &fd, &e) >= 0)
		e.kind = ERR_NONE;
	lock(f);
	j->err = e;
	unlock(f);
	if (f->http)
		(void)http_after(f->http, 0, on_looked_up, j);
	else
		on_looked_up(j, 0);
}

int fetch_new(struct http *http, struct cache *cache, struct fetcher **ret, struct err *e)
{
	struct fetcher *f = xcalloc(1, sizeof(*f));
	sigset_t all, before;
	int r;

	f->http = http;
	f->cache = cache;
	f->last = &f->first;
	(void)pthread_mutex_init(&f->lock, NULL);
	(void)pthread_cond_init(&f->changed, NULL);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(&f->disk, NULL, disk_main, f);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r != 0) {
		free(f);
		return err_fail(e, ERR_SYSTEM, r, "start the disk thread: %s", strerror(r));
	}
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
	j->digest = as->digest;
	j->name = xstrdup(as->name);
	j->next = f->jobs;
	f->jobs = j;
	return j;
}

void fetch_start(struct fetcher *f, const struct asset *as, fetch_done_fn *done, void *arg)
{
	struct fetch_waiter *w = xcalloc(1, sizeof(*w));
	struct fetch_job *j;

	w->as = as;
	w->done = done;
	w->arg = arg;
	lock(f);
	j = find_job(f, &as->digest);
	if (!j)
		j = add_job(f, as);
	w->next = j->waiters;
	j->waiters = w;
	fetch_job_add_mirrors(j, as);
	if (j->state == FETCH_IDLE) {
		fetch_job_restart(j);
		j->state = FETCH_LOOKUP;
		f->pending++;
		send_errand(f, look_up, j);
	}
	unlock(f);
}

static void on_cancelled(void *arg, int r)
{
	struct fetch_job *j = arg;
	struct fetch_waiter *waiters;

	(void)r;
	lock(j->fetcher);
	waiters = take_waiters(j, false);
	unlock(j->fetcher);
	tell(j, waiters, -ECANCELED, NULL);
	no_longer_pending(j->fetcher);
}

static void tell_cancelled(struct fetch_job *j)
{
	on_cancelled(j, 0);
}

/* The lock is held. */
static void cancel_waiters(struct fetch_job *j, const struct asset *as)
{
	struct fetcher *f = j->fetcher;
	bool any = false, wanted = false;

	for (struct fetch_waiter *w = j->waiters; w; w = w->next) {
		if (!w->cancelled && (!as || w->as == as))
			any = w->cancelled = true;
		wanted = wanted || !w->cancelled;
	}
	if (!any)
		return;
	f->pending++;
	if (f->http)
		(void)http_after(f->http, 0, on_cancelled, j);
	else
		send_errand(f, tell_cancelled, j);
	if (!wanted && (j->state == FETCH_MOVING || j->state == FETCH_WAITING))
		http_cancel(f->http, j->http_id);
}

void fetch_cancel(struct fetcher *f, const struct asset *as)
{
	struct fetch_job *j;

	lock(f);
	j = find_job(f, &as->digest);
	if (j)
		cancel_waiters(j, as);
	unlock(f);
}

bool fetch_status(struct fetcher *f, const struct asset *as, struct fetch_status *ret)
{
	struct fetch_job *j;

	lock(f);
	j = find_job(f, &as->digest);
	if (j) {
		const struct fetch_mirror *m = j->nmirrors ? &j->mirrors[j->current] : NULL;

		*ret = (struct fetch_status){
			.bytes = j->bytes,
			.total = j->total,
			.attempt = j->attempt,
			.next_try_ns = j->next_try_ns,
		};
		(void)snprintf(ret->url, sizeof(ret->url), "%s", m ? m->public : "");
		(void)snprintf(ret->last_error, sizeof(ret->last_error), "%s",
			       m ? m->last_error : "");
	}
	unlock(f);
	return j;
}

void fetch_free(struct fetcher *f)
{
	struct fetch_job *next;

	if (!f)
		return;
	lock(f);
	for (struct fetch_job *j = f->jobs; j; j = j->next)
		cancel_waiters(j, NULL);
	while (f->pending)
		(void)pthread_cond_wait(&f->changed, &f->lock);
	f->stop = true;
	(void)pthread_cond_broadcast(&f->changed);
	unlock(f);
	(void)pthread_join(f->disk, NULL);
	for (struct fetch_job *j = f->jobs; j; j = next) {
		next = j->next;
		fetch_job_free(j);
	}
	(void)pthread_cond_destroy(&f->changed);
	(void)pthread_mutex_destroy(&f->lock);
	free(f);
}
