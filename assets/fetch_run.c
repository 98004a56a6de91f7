#include "assets/fetch_run.h"

#include <stdlib.h>
#include <sys/random.h>
#include "assets/fetch_answer.h"
#include "assets/fetch_follow.h"
#include "assets/fetch_parts.h"
#include "assets/fetch_wait.h"
#include "nodeup/base/dur.h"

enum { RETRY_AFTER_MAX_S = 60, RESTARTS_MAX = 2, FOLLOW_LEAST = 1024 * 1024 };

static const uint64_t asset_bytes_max = UINT64_C(32) << 30;

static void lock(struct fetcher *f)
{
	(void)pthread_mutex_lock(&f->lock);
}

static void unlock(struct fetcher *f)
{
	(void)pthread_mutex_unlock(&f->lock);
}

void fetch_run_over(struct fetcher *f)
{
	lock(f);
	f->pending--;
	(void)pthread_cond_broadcast(&f->changed);
	unlock(f);
}

/* The end: nothing moves, and there is no entry any more. */

static void finish(struct fetch_job *j, int r, const struct err *e)
{
	struct fetcher *f = j->fetcher;
	struct fetch_waiter *waiters;

	lock(f);
	waiters = fetch_wait_take(j, true);
	j->state = FETCH_IDLE;
	j->next_try_ns = 0;
	unlock(f);
	fetch_wait_tell(waiters, r, e);
	fetch_run_over(f);
}

static void on_settled(void *arg, int r)
{
	struct fetch_job *j = arg;
	void (*then)(struct fetch_job * j) = j->then;

	(void)r; /* of the timer; what became of the entry is in follow_err */
	j->following = j->exclusive = false;
	j->then = NULL;
	lock(j->fetcher);
	j->bytes = 0;
	unlock(j->fetcher);
	j->mixed = false;
	j->source = SIZE_MAX;
	j->eof = -1;
	for (size_t i = 0; i < j->nmirrors; i++)
		j->mirrors[i].gave = false;
	if (j->follow_err.kind != ERR_NONE)
		finish(j, err_code(&j->follow_err), &j->follow_err);
	else
		then(j);
}

/* Stop what moves; once nothing does, settle the entry and go on with `then`. The first one wins. */
static void drain(struct fetch_job *j, enum fetch_settle settle, void (*then)(struct fetch_job *j))
{
	if (j->then)
		return;
	j->settle = settle;
	j->then = then;
	for (struct fetch_part *p = j->parts; p; p = p->next) {
		p->enough = true;
		http_cancel(j->fetcher->http, p->http_id);
	}
	if (j->timer_id)
		http_cancel(j->fetcher->http, j->timer_id);
}

static void on_looked_up(void *arg, int r);

/* Nobody wanted it a moment ago. */
static void give_up(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	struct err e;

	lock(f);
	if (fetch_wait_is_wanted(j)) {
		fetch_job_restart(j);
		j->state = FETCH_LOOKUP;
		fetch_follow_look_up(j, on_looked_up);
		unlock(f);
		return;
	}
	unlock(f);
	(void)err_fail(&e, ERR_NET, ECANCELED, "cancelled");
	finish(j, -ECANCELED, &e);
}

static void say_end(struct fetch_job *j)
{
	finish(j, err_code(&j->end_err), &j->end_err);
}

/* The end, with an error. */
static void fail(struct fetch_job *j, enum fetch_settle settle, const struct err *e)
{
	j->end_err = *e;
	drain(j, settle, say_end);
}

/* Bytes that are of no use any more are gone, or were never there: go on. */
static void go_on(struct fetch_job *j)
{
	fetch_run_step(j);
}

static void be_whole(struct fetch_job *j)
{
	lock(j->fetcher);
	j->whole = true;
	fetch_job_all_again(j);
	unlock(j->fetcher);
}

/* The object is another one than the bytes here are of. One that is another one again and again is
 * not put together from parts. */
static void start_again(struct fetch_job *j)
{
	lock(j->fetcher);
	fetch_job_all_again(j);
	unlock(j->fetcher);
	j->stale = false;
	if (++j->restarts > RESTARTS_MAX)
		be_whole(j);
	drain(j, j->whole ? FETCH_DROP : FETCH_EMPTY, go_on);
}

/* Rounds */

static void on_timer(void *arg, int r)
{
	struct fetch_job *j = arg;

	(void)r; /* cancelled or due: whether anybody still wants it is asked there */
	j->timer_id = 0;
	fetch_run_step(j);
}

/* Every mirror has been asked: wait for the next round, or give up. */
static void end_round(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	uint32_t random = 0;
	struct err e;
	int64_t delay;

	if (j->stale) {
		start_again(j);
		return;
	}
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	lock(f);
	if (j->bytes > j->best)
		j->best = j->bytes;
	delay = fetch_job_end_round(j, dur_now(), random);
	if (delay < 0)
		(void)fetch_job_verdict(j, &e);
	unlock(f);
	if (delay < 0)
		fail(j, FETCH_KEEP, &e);
	else
		j->timer_id = http_after(f->http, delay, on_timer, j);
}

static void mirror_failed(struct fetch_job *j, size_t mirror, const struct err *e,
			  const struct http_result *res)
{
	const int64_t longest = RETRY_AFTER_MAX_S * DUR_SEC;
	struct fetch_mirror *m = &j->mirrors[mirror];
	int64_t after = res ? res->retry_after_ns : -1, retry_at = 0;
	bool too_many = res && (res->status == 429 || res->status == 503) && m->active > 0;

	if (after > 0)
		retry_at = dur_now() + (after < longest ? after : longest);
	lock(j->fetcher);
	if (j->bytes > j->best)
		j->best = j->bytes;
	fetch_job_failed(j, mirror, e, too_many ? 0 : retry_at);
	if (too_many) {
		/* not of all connections: fewer */
		m->limit = m->active;
		m->failed = false;
	}
	unlock(j->fetcher);
}

/* Hold a failure against the host, unless it only says no (403, 404): of other assets it may have
 * more. */
static void note_bad_host(struct fetch_job *j, size_t mirror, int status)
{
	const char *url = j->mirrors[mirror].url;
	struct url u = url_split(url);

	if (url_has_scheme(&u, "file") || (status / 100 == 4 && status != 408 && status != 429))
		return;
	lock(j->fetcher);
	fetch_hosts_note(&j->fetcher->hosts, url, FETCH_HOST_BAD);
	unlock(j->fetcher);
}

/* Parts */

static void remove_part(struct fetch_part *part)
{
	struct fetch_job *j = part->job;
	struct fetch_part **p = &j->parts;

	while (*p != part)
		p = &(*p)->next;
	*p = part->next;
	j->mirrors[part->mirror].active--;
	j->fetcher->connections--;
}

/* Who waits for a connection may have this one. */
static void wake_starved(struct fetcher *f)
{
	struct fetch_job *j;

	lock(f);
	j = f->jobs;
	unlock(f);
	for (; j; j = j->next)
		if (j->starved)
			fetch_run_step(j);
}

static void changed(struct fetch_job *j, size_t mirror, const struct err *e)
{
	/* a mirror that contradicts itself has another object now; one that contradicts others may be
	 * the one that is wrong */
	if (range_mark_of(cache_origin_of(j->entry), j->mirrors[mirror].url)) {
		start_again(j);
		return;
	}
	j->stale = true;
	mirror_failed(j, mirror, e, NULL);
}

static void on_done(void *arg, int r, const struct http_result *res, const struct err *e)
{
	struct fetch_part *p = arg;
	struct fetch_job *j = p->job;
	struct err why;

	remove_part(p);
	switch (fetch_answer_done(p, r, res, e, &why)) {
	case FETCH_CAME:
		break;
	case FETCH_FAILED:
		note_bad_host(j, p->mirror, res->status);
		mirror_failed(j, p->mirror, &why, res);
		break;
	case FETCH_FATAL:
		fail(j, FETCH_DROP, &why); /* a disk that fails or is full has no place for parts */
		break;
	case FETCH_CHANGED:
		changed(j, p->mirror, &why);
		break;
	case FETCH_NO_RANGES:
		j->mirrors[p->mirror].whole_only = true;
		break;
	}
	free(p);
	fetch_run_step(j);
	wake_starved(j->fetcher);
}

static void on_head(void *arg, const struct http_result *res)
{
	struct fetch_part *p = arg;

	fetch_answer_head(p, res);
	/* now that its size is known, others may help */
	if (p->err.kind == ERR_NONE)
		fetch_run_step(p->job);
}

static void follow_on(struct fetch_job *j);

static int on_data(void *arg, const void *bytes, size_t n, struct err *e)
{
	struct fetch_part *p = arg;
	int r = fetch_answer_data(p, bytes, n, e);

	follow_on(p->job);
	return r;
}

static void on_tick(void *arg, int r);

/* A mirror that goes silent calls nobody: look at what moves from time to time. */
static void keep_ticking(struct fetcher *f)
{
	if (f->ticking)
		return;
	lock(f);
	if (!f->closing) {
		f->ticking = true;
		f->pending++;
		f->tick_id = http_after(f->http, f->opts.patience_ns / 3, on_tick, f);
	}
	unlock(f);
}

static void on_tick(void *arg, int r)
{
	struct fetcher *f = arg;
	struct fetch_job *j;

	f->ticking = false;
	lock(f);
	j = f->jobs;
	unlock(f);
	for (; j && r >= 0; j = j->next)
		if (j->parts) {
			keep_ticking(f);
			fetch_run_step(j);
		}
	fetch_run_over(f);
}

static void start_part(struct fetch_job *j, const struct fetch_want *want)
{
	autoarena struct arena *a = arena_new_empty();
	struct fetch_mirror *m = &j->mirrors[want->mirror];
	struct fetch_part *p = xcalloc(1, sizeof(*p));
	struct range_asked asked = { m->url, want->ranged, want->first, want->end };
	struct http_req req = {
		.url = m->url,
		.max_bytes = asset_bytes_max,
		.head = on_head,
		.data = on_data,
		.done = on_done,
		.arg = p,
	};

	p->job = j;
	p->mirror = want->mirror;
	p->ranged = want->ranged;
	p->pos = want->ranged ? want->first : 0;
	p->end = want->end;
	p->hedge = want->slow;
	p->began_ns = dur_now();
	/* a stream that cannot be cut does on its way what the other does, if it is there first */
	if (want->slow && want->slow->answer == RANGE_REST && want->slow->headed)
		want->slow->end = want->first;
	range_ask(cache_origin_of(j->entry), &asked, a, &req.headers);
	p->next = j->parts;
	j->parts = p;
	m->active++;
	j->fetcher->connections++;
	lock(j->fetcher);
	fetch_job_asked(j, want->mirror);
	unlock(j->fetcher);
	p->http_id = http_start(j->fetcher->http, &req);
	keep_ticking(j->fetcher);
}

/* An entry for what is wanted to go into; false when that takes a moment, or is the end. */
static bool prepare(struct fetch_job *j)
{
	struct err e;

	if (j->entry && j->whole && !j->parts && cache_spans(j->entry)->sum > 0) {
		drain(j, FETCH_DROP, go_on);
		return false;
	}
	if (j->entry || cache_begin(j->fetcher->cache, &j->digest, &j->entry, &e) >= 0)
		return true;
	fail(j, FETCH_DROP, &e);
	return false;
}

/* What is here may be of no use to the mirror that is to go on. */
static bool can_go_on(const struct fetch_job *j, const struct fetch_want *want)
{
	return j->parts || cache_spans(j->entry)->sum == 0 ||
	       range_can_resume(cache_origin_of(j->entry), j->mirrors[want->mirror].url);
}

static bool others_starve(const struct fetch_job *j)
{
	bool any = false;

	lock(j->fetcher);
	for (const struct fetch_job *o = j->fetcher->jobs; o; o = o->next)
		any = any || (o != j && o->starved);
	unlock(j->fetcher);
	return any;
}

/* Ask for one more part. */
static bool start_one(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	struct fetch_want want;
	bool any;

	lock(f);
	for (size_t i = 0; i < j->nmirrors; i++)
		j->mirrors[i].rank = fetch_hosts_rank(&f->hosts, j->mirrors[i].url);
	any = fetch_parts_next(j, dur_now(), &want);
	unlock(f);
	if (!any)
		return false;
	if (f->connections >= f->opts.connections || (j->parts && others_starve(j))) {
		j->starved = !j->parts;
		return false;
	}
	if (!can_go_on(j, &want)) {
		drain(j, FETCH_EMPTY, go_on);
		return false;
	}
	start_part(j, &want);
	return true;
}

static void start_parts(struct fetch_job *j)
{
	j->starved = false;
	if (j->timer_id || !prepare(j))
		return;
	while (!j->then && start_one(j))
		;
	if (!j->parts && !j->starved && !j->then)
		end_round(j);
}

/* The verdict */

static void committed(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;

	lock(f);
	for (size_t i = 0; i < j->nmirrors; i++)
		if (j->mirrors[i].gave)
			fetch_hosts_note(&f->hosts, j->mirrors[i].url, FETCH_HOST_GOOD);
	unlock(f);
	finish(j, 0, NULL);
}

/* Of bytes of several answers nobody can say whose were wrong. */
static void wrong_bytes(struct fetch_job *j, const struct err *e)
{
	if (j->mixed || j->source == SIZE_MAX) {
		be_whole(j);
	} else {
		j->whole = true;
		mirror_failed(j, j->source, e, NULL);
	}
	drain(j, FETCH_DROP, go_on);
	fetch_run_step(j);
}

static void on_committed(void *arg, int r)
{
	struct fetch_job *j = arg;
	struct err e = j->follow_err;

	(void)r;
	j->following = j->exclusive = false;
	if (e.kind == ERR_NONE)
		committed(j);
	else if (e.kind == ERR_INTEGRITY)
		wrong_bytes(j, &e);
	else
		finish(j, err_code(&e), &e);
}

static void on_followed(void *arg, int r)
{
	struct fetch_job *j = arg;

	(void)r;
	j->following = j->exclusive = false;
	if (j->follow_err.kind != ERR_NONE)
		fail(j, FETCH_DROP, &j->follow_err);
	fetch_run_step(j);
}

/* Read what has come since, unless it is little and there will be more. */
static void follow_on(struct fetch_job *j)
{
	uint64_t here, at, size;

	if (j->following || j->then || j->state != FETCH_MOVING || !j->entry)
		return;
	here = spans_missing(cache_spans(j->entry), 0);
	at = cache_followed(j->entry);
	if (here > at && (here - at >= FOLLOW_LEAST || fetch_parts_complete(j, &size)))
		fetch_follow(j, here, on_followed);
}

/* All is here: what still moves is of no use. */
static void complete(struct fetch_job *j, uint64_t size)
{
	for (struct fetch_part *p = j->parts; p; p = p->next) {
		p->enough = true;
		http_cancel(j->fetcher->http, p->http_id);
	}
	if (j->parts || j->following)
		return;
	if (cache_followed(j->entry) < size)
		fetch_follow(j, size, on_followed);
	else
		fetch_follow_commit(j, on_committed);
}

/* The lock is held. */
static void take_news(struct fetch_job *j)
{
	for (const struct fetch_waiter *w = j->waiters; j->news && w; w = w->next)
		if (!w->cancelled)
			fetch_job_add_mirrors(j, w->as);
	j->news = false;
}

void fetch_run_step(struct fetch_job *j)
{
	uint64_t size;
	bool moving, wanted;

	lock(j->fetcher);
	moving = j->state == FETCH_MOVING;
	wanted = fetch_wait_is_wanted(j);
	if (moving)
		take_news(j);
	unlock(j->fetcher);
	if (!moving || j->exclusive)
		return;
	if (!wanted)
		drain(j, FETCH_KEEP, give_up);
	if (!j->then && fetch_parts_complete(j, &size))
		complete(j, size);
	else if (!j->then)
		start_parts(j);
	if (j->then && !j->parts && !j->following && !j->timer_id)
		fetch_follow_settle(j, on_settled);
	else
		follow_on(j);
}

/* The beginning */

/* Go on with what is here, which may be all that there is. */
static void go_on_from_here(struct fetch_job *j)
{
	lock(j->fetcher);
	j->state = FETCH_MOVING;
	if (j->entry) {
		j->bytes = (int64_t)cache_spans(j->entry)->sum;
		j->total = cache_origin_of(j->entry)->total;
	}
	j->best = j->best_before = j->bytes;
	unlock(j->fetcher);
	j->mixed = j->bytes > 0;
	j->source = SIZE_MAX;
	j->eof = -1;
	fetch_run_step(j);
}

/* On the net thread; offline on a worker. */
static void on_looked_up(void *arg, int r)
{
	struct fetch_job *j = arg;
	struct err e = j->follow_err;

	(void)r; /* of the timer; the cache's answer is in follow_err */
	j->following = j->exclusive = false;
	if (e.kind == ERR_NONE)
		finish(j, 0, NULL);
	else if (e.errnum != ENOENT)
		finish(j, err_code(&e), &e);
	else if (j->fetcher->http)
		go_on_from_here(j);
	else
		finish(j, err_fail(&e, ERR_NET, ENOENT, "offline, and not in the cache"), &e);
}

void fetch_run_begin(struct fetch_job *j)
{
	fetch_job_restart(j);
	j->state = FETCH_LOOKUP;
	j->fetcher->pending++;
	fetch_follow_look_up(j, on_looked_up);
}
