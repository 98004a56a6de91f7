#include "assets/fetch/run.h"

#include <stdlib.h>
#include <sys/random.h>
#include "assets/fetch/begin.h"
#include "assets/fetch/blame.h"
#include "assets/fetch/end.h"
#include "assets/fetch/follow.h"
#include "assets/fetch/move.h"
#include "assets/fetch/wait.h"
#include "nodeup/base/dur.h"

enum { RESTARTS_MAX = 2, FOLLOW_LEAST = 1024 * 1024 };

static void lock(struct fetcher *f)
{
	(void)pthread_mutex_lock(&f->lock);
}

static void unlock(struct fetcher *f)
{
	(void)pthread_mutex_unlock(&f->lock);
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
	j->best = j->best_before = 0;
	unlock(j->fetcher);
	j->stale = false;
	if (++j->restarts > RESTARTS_MAX)
		be_whole(j);
	fetch_end_drain(j, j->whole ? FETCH_DROP : FETCH_EMPTY, go_on);
}

/* Rounds */

static bool can_any_go_on(const struct fetch_job *j)
{
	for (size_t i = 0; i < j->nmirrors && j->entry; i++)
		if (range_can_resume(cache_origin_of(j->entry), j->mirrors[i].url))
			return true;
	return false;
}

static void on_timer(void *arg, int r)
{
	struct fetch_job *j = arg;

	(void)r; /* cancelled or due: whether a waiter is left is asked there */
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
		fetch_end_fail(j, can_any_go_on(j) ? FETCH_KEEP : FETCH_DROP, &e);
	else
		j->timer_id = http_after(f->http, delay, on_timer, j);
}

/* Parts */

static void changed(struct fetch_job *j, size_t mirror, const struct err *e)
{
	/* a mirror that contradicts itself has another object now; one that contradicts others may be
	 * the one that is wrong */
	if (range_mark_of(cache_origin_of(j->entry), j->mirrors[mirror].url)) {
		start_again(j);
		return;
	}
	j->stale = true;
	fetch_blame_mirror(j, mirror, e, NULL);
}

static void look_again(struct fetch_job *j)
{
	lock(j->fetcher);
	fetch_begin_look_up(j);
	unlock(j->fetcher);
}

/* A disk that fails has no place for parts, one that is full has them already: they wait there for room.
 * The tree that is unpacked on the way may have taken it. */
static void disk_failed(struct fetch_job *j, const struct err *e)
{
	const bool full = io_is_full(e->errnum);
	const enum fetch_settle settle = full && can_any_go_on(j) ? FETCH_KEEP : FETCH_DROP;
	bool had_tree;

	lock(j->fetcher);
	had_tree = full && !j->full && j->tree;
	j->full = j->full || full;
	unlock(j->fetcher);
	if (had_tree)
		fetch_end_drain(j, settle, look_again);
	else
		fetch_end_fail(j, settle, e);
}

static void on_ended(struct fetch_job *j, size_t mirror, enum fetch_outcome outcome,
		     const struct http_result *res, const struct err *e)
{
	switch (outcome) {
	case FETCH_CAME:
		fetch_blame_less(j, mirror);
		break;
	case FETCH_FAILED:
		fetch_blame_host(j, mirror, res->status);
		fetch_blame_mirror(j, mirror, e, res);
		break;
	case FETCH_SAME:
		fetch_blame_mirror(j, mirror, e, NULL);
		break;
	case FETCH_FATAL:
		disk_failed(j, e);
		break;
	case FETCH_CHANGED:
		changed(j, mirror, e);
		break;
	case FETCH_NO_RANGES:
		j->mirrors[mirror].whole_only = true;
		break;
	}
}

/* An entry for what is wanted to go into; false when that takes a moment, or is the end. */
static bool prepare(struct fetch_job *j)
{
	struct err e;

	if (j->entry && j->whole && !j->parts && cache_spans(j->entry)->sum > 0) {
		fetch_end_drain(j, FETCH_DROP, go_on);
		return false;
	}
	if (!j->entry && cache_begin(j->fetcher->cache, &j->digest, &j->entry, &e) < 0) {
		fetch_end_fail(j, FETCH_DROP, &e);
		return false;
	}
	/* the rest is not requested as long as there is no room for it */
	if (!j->parts && cache_spans(j->entry)->sum > 0 && cache_try_room(j->entry, &e) < 0) {
		disk_failed(j, &e);
		return false;
	}
	return true;
}

/* What is here may be of no use to the mirror that is to go on. */
static bool can_go_on(const struct fetch_job *j, const struct fetch_want *want)
{
	return j->parts || cache_spans(j->entry)->sum == 0 ||
	       range_can_resume(cache_origin_of(j->entry), j->mirrors[want->mirror].url);
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
	if (!fetch_move_may_start(j))
		return false;
	if (!can_go_on(j, &want)) {
		fetch_end_drain(j, FETCH_EMPTY, go_on);
		return false;
	}
	fetch_move_start(j, &want);
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
	fetch_end(j, 0, NULL);
}

/* Of bytes from several answers it is unknown which were wrong. */
static void wrong_bytes(struct fetch_job *j, const struct err *e)
{
	if (j->mixed || j->source == SIZE_MAX) {
		be_whole(j);
	} else {
		j->whole = true;
		fetch_blame_mirror(j, j->source, e, NULL);
	}
	fetch_end_drain(j, FETCH_DROP, go_on);
	fetch_run_step(j);
}

static void on_committed(void *arg, int r)
{
	struct fetch_job *j = arg;
	struct err e = j->errs->follow;

	(void)r;
	j->following = j->exclusive = false;
	if (e.kind == ERR_NONE)
		committed(j);
	else if (e.kind == ERR_INTEGRITY)
		wrong_bytes(j, &e);
	else
		fetch_end(j, err_code(&e), &e);
}

static void on_followed(void *arg, int r)
{
	struct fetch_job *j = arg;

	(void)r;
	j->following = j->exclusive = false;
	if (j->errs->follow.kind != ERR_NONE)
		fetch_end_fail(j, FETCH_DROP, &j->errs->follow);
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
	fetch_move_stop(j);
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
	/* the publisher reads the mirrors' names */
	if (moving && !j->exclusive)
		take_news(j);
	unlock(j->fetcher);
	if (!moving || j->exclusive)
		return;
	if (!wanted)
		fetch_end_drain(j, FETCH_KEEP, fetch_begin_again);
	if (!j->then && fetch_parts_complete(j, &size))
		complete(j, size);
	else if (!j->then)
		start_parts(j);
	if (j->then && !j->parts && !j->following && !j->timer_id)
		fetch_end_settle(j);
	else
		follow_on(j);
}

void fetch_run_init(struct fetcher *f)
{
	static const struct fetch_ops ops = { fetch_run_step, follow_on, on_ended };

	f->ops = &ops;
}
