#include "assets/fetch.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include "assets/fetch_answer.h"
#include "nodeup/base/dur.h"

enum { RETRY_AFTER_MAX_S = 60 };

static const uint64_t asset_bytes_max = UINT64_C(32) << 30;

/* Something the disk thread shall do with a job. */
struct errand {
	struct errand *next;
	void (*fn)(struct fetch_job *j);
	struct fetch_job *job;
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

static void tell(struct fetch_waiter *w, int r, const struct err *e)
{
	struct fetch_waiter *next;
	struct err cancelled;

	(void)err_fail(&cancelled, ERR_NET, ECANCELED, "cancelled");
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

	/* what came is for the next time */
	cache_suspend(j->entry);
	j->entry = NULL;
	lock(f);
	waiters = take_waiters(j, true);
	j->state = FETCH_IDLE;
	j->next_try_ns = 0;
	unlock(f);
	tell(waiters, r, e);
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

/* Of bytes of several answers nobody can say whose were wrong. */
static void wrong_bytes(struct fetch_job *j, const struct err *e)
{
	bool known;

	lock(j->fetcher);
	known = !j->mixed;
	j->whole = true;
	if (!known)
		fetch_job_be_whole(j);
	unlock(j->fetcher);
	if (known)
		mirror_failed(j, e, -1);
	else
		try_next(j);
}

static void committed(struct fetch_job *j)
{
	lock(j->fetcher);
	if (j->headed)
		fetch_hosts_note(&j->fetcher->hosts, j->mirrors[j->current].url, FETCH_HOST_GOOD);
	unlock(j->fetcher);
	finish(j, 0, NULL);
}

static void on_committed(void *arg, int r)
{
	struct fetch_job *j = arg;
	struct err e = j->err;

	(void)r; /* of the timer; the commit's verdict is in j->err */
	if (e.kind == ERR_NONE)
		committed(j);
	else if (e.kind == ERR_INTEGRITY)
		wrong_bytes(j, &e);
	else
		finish(j, err_code(&e), &e);
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
		fetch_job_explain(j, &e);
	j->err = e;
	unlock(f);
	(void)http_after(f->http, 0, on_committed, j);
}

static void commit_now(struct fetch_job *j)
{
	lock(j->fetcher);
	j->state = FETCH_COMMIT;
	send_errand(j->fetcher, commit, j);
	unlock(j->fetcher);
}

/* Ask the same mirror once more: that it was asked does not count. */
static void ask_again(struct fetch_job *j)
{
	lock(j->fetcher);
	j->mirrors[j->current].tried = false;
	unlock(j->fetcher);
	try_next(j);
}

static void fail(struct fetch_job *j, const struct err *e)
{
	finish(j, err_code(e), e);
}

static bool wants_nothing(const struct fetch_job *j)
{
	struct digest nothing;

	digest_of(j->digest.algo, "", 0, &nothing);
	return digest_eq(&nothing, &j->digest);
}

static void body_came(struct fetch_job *j)
{
	struct err e;

	if (!j->headed && !wants_nothing(j)) {
		(void)err_fail(&e, ERR_NET, ENODATA, "GET '%s': empty body",
			       j->mirrors[j->current].public);
		mirror_failed(j, &e, -1);
	} else if (j->headed && j->bytes < j->total && j->answer == RANGE_REST) {
		ask_again(j); /* a server may send less than the rest */
	} else {
		lock(j->fetcher);
		fetch_pace_end(&j->pace, dur_now(), j->bytes, &j->fetcher->hosts);
		unlock(j->fetcher);
		commit_now(j);
	}
}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct fetch_job *j = arg;
	struct err failure;

	if (r >= 0) {
		body_came(j);
	} else if (r == -ECANCELED) {
		ask_again(j); /* nobody wants it, or somebody does again */
	} else if (fetch_answer_is_about_range(j, res)) {
		if (j->answer == RANGE_COMPLETE)
			commit_now(j);
		else if (cache_restart(j->entry, &failure) < 0)
			fail(j, &failure);
		else
			ask_again(j);
	} else if (e->kind == ERR_NET) {
		fetch_answer_failed(j, res);
		mirror_failed(j, e, res->retry_after_ns);
	} else {
		cache_abort(j->entry); /* a disk that fails or is full has no place for parts */
		j->entry = NULL;
		fail(j, e);
	}
}

/* An entry for the next attempt to go on with. */
static int prepare(struct fetch_job *j, struct err *e)
{
	const char *url = j->mirrors[j->current].url;

	if (j->whole) {
		cache_abort(j->entry);
		j->entry = NULL;
	}
	if (!j->entry)
		return cache_begin(j->fetcher->cache, &j->digest, &j->entry, e);
	if (cache_size(j->entry) > 0 && !range_can_resume(cache_origin_of(j->entry), url))
		return cache_restart(j->entry, e);
	return 0;
}

/* The lock is held. */
static void start_transfer(struct fetch_job *j)
{
	autoarena struct arena *a = arena_new_empty();
	const char *url = j->mirrors[j->current].url;
	uint64_t have = cache_size(j->entry);
	struct http_req req = {
		.url = url,
		.max_bytes = asset_bytes_max,
		.head = fetch_answer_head,
		.data = fetch_answer_data,
		.done = on_done,
		.arg = j,
	};

	if (have > 0)
		range_ask(cache_origin_of(j->entry), url, have, a, &req.headers);
	j->bytes = (int64_t)have;
	j->headed = false;
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

	lock(f);
	wanted = is_wanted(j);
	for (size_t i = 0; i < j->nmirrors; i++)
		j->mirrors[i].rank = fetch_hosts_rank(&f->hosts, j->mirrors[i].url);
	more = wanted && fetch_job_next_mirror(j, dur_now());
	unlock(f);
	if (!wanted) {
		finish(j, err_fail(&e, ERR_NET, ECANCELED, "cancelled"), &e);
		return;
	}
	if (!more) {
		end_round(j);
		return;
	}
	if (prepare(j, &e) < 0) {
		fail(j, &e);
		return;
	}
	lock(f);
	start_transfer(j);
	unlock(f);
}

/* Go on with what is here, which may be all that there is. */
static void begin(struct fetch_job *j)
{
	uint64_t have = j->entry ? cache_size(j->entry) : 0;

	lock(j->fetcher);
	j->best = j->best_before = (int64_t)have;
	unlock(j->fetcher);
	if (have > 0 && cache_origin_of(j->entry)->total == (int64_t)have) {
		j->bytes = j->total = (int64_t)have;
		j->mixed = true;
		j->headed = false;
		commit_now(j);
	} else {
		try_next(j);
	}
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
		finish(j, err_code(&e), &e);
	else if (j->fetcher->http)
		begin(j);
	else
		finish(j, err_fail(&e, ERR_NET, ENOENT, "offline, and not in the cache"), &e);
}

/* *e, that there is no entry, stays or says otherwise. */
static void look_for_part(struct fetch_job *j, struct err *e)
{
	struct cache *c = j->fetcher->cache;
	struct err failure;

	if (cache_resume(c, &j->digest, &j->entry, &failure) < 0) {
		*e = failure;
	} else if (cache_has(c, &j->digest)) {
		/* who had the part before us has completed it meanwhile */
		cache_abort(j->entry);
		j->entry = NULL;
		e->kind = ERR_NONE;
	}
}

/* On the disk thread: an entry without a record is read as a whole, and so is a part. */
static void look_up(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	struct err e = { .kind = ERR_NONE };
	autoclose int fd = -1;

	if (cache_open(f->cache, &j->digest, &fd, &e) >= 0)
		e.kind = ERR_NONE;
	else if (e.errnum == ENOENT && f->http && !j->whole)
		look_for_part(j, &e);
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
	tell(waiters, -ECANCELED, NULL);
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
		(void)snprintf(ret->last_error, sizeof(ret->last_error), "%s", j->last_error);
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
	fetch_hosts_free(&f->hosts);
	(void)pthread_cond_destroy(&f->changed);
	(void)pthread_mutex_destroy(&f->lock);
	free(f);
}
