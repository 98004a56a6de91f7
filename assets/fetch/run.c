#include "assets/fetch/run.h"

#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include "assets/fetch/follow.h"
#include "assets/fetch/move.h"
#include "assets/fetch/range.h"
#include "nodeup/base/dur.h"

enum {
	RESTARTS_MAX = 2,
	FOLLOW_LEAST = 1024 * 1024,
	/* bytes a second; a transfer below this rate counts as stalled (http.h) */
	LEAST_RATE = 1024,
};

/* the pause before the cache is asked again while another process fetches */
#define LOOK_UP_AGAIN_NS (250 * DUR_MS)

static void look_up(struct fetch_job *j);
static void step_job(struct fetch_job *j);

/* Jobs that wait for their turn */

/* A job under way holds a file for the arriving bytes. While the archive is unpacked it also holds a pipe, a report
 * and the files of the members. As many jobs run as the limit on descriptors allows; all other jobs wait in order
 * and hold nothing. FDS_ELSE counts connections, the bus and files of tasks. FDS_EACH counts the descriptors of a
 * job, and copies for two workers. */
enum { FDS_ELSE = 64, FDS_EACH = 8, LEAST = 2, MOST = 128 };

void fetch_queue_init(struct fetcher *f)
{
	struct rlimit l = { 0 };

	f->queue_last = &f->queue;
	f->active_max = LEAST;
	if (getrlimit(RLIMIT_NOFILE, &l) == 0 && l.rlim_cur > FDS_ELSE + LEAST * FDS_EACH)
		f->active_max = (size_t)(l.rlim_cur - FDS_ELSE) / FDS_EACH;
	if (f->active_max > MOST)
		f->active_max = MOST;
}

/* Returns whether the job may begin; if not, it waits. The lock is held. */
static bool enter_queue(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;

	if (f->active < f->active_max) {
		f->active++;
		return true;
	}
	j->state = FETCH_QUEUED;
	j->queue_next = NULL;
	*f->queue_last = j;
	f->queue_last = &j->queue_next;
	return false;
}

/* Takes the next job from the queue after a job has ended; NULL: none waits. The lock is held. */
static struct fetch_job *leave_queue(struct fetcher *f)
{
	struct fetch_job *j = f->queue;

	if (!j) {
		f->active--;
		return NULL;
	}
	f->queue = j->queue_next;
	if (!f->queue)
		f->queue_last = &f->queue;
	return j;
}

/* Waiters */

static bool is_wanted(const struct fetch_job *j)
{
	for (const struct fetch_waiter *w = j->waiters; w; w = w->next)
		if (!w->cancelled)
			return true;
	return false;
}

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

static void tell_waiters(struct fetch_waiter *w, int r, const struct err *e)
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

/* The end: stops all parts and settles the entry; then goes on or tells the waiters */

static void end_locked(struct fetch_job *j, int r, const struct err *e)
{
	struct fetcher *f = j->fetcher;
	struct fetch_waiter *waiters = take_waiters(j, true);
	struct fetch_job *next = leave_queue(f);
	/* a failed job keeps its errors, as it may be tried again; *e may be one of them */
	autofree struct fetch_errs *errs = r >= 0 ? TAKE(j->errs) : NULL;

	j->state = FETCH_IDLE;
	j->next_try_ns = 0;
	if (next)
		look_up(next);
	fetch_unlock(f);
	tell_waiters(waiters, r, e);
	fetch_end_pending(f);
}

static void end_job(struct fetch_job *j, int r, const struct err *e)
{
	fetch_lock(j->fetcher);
	end_locked(j, r, e);
}

static void on_settled(struct fetch_job *j)
{
	void (*then)(struct fetch_job * j) = j->then;

	j->then = NULL;
	fetch_lock(j->fetcher);
	j->bytes = 0;
	fetch_unlock(j->fetcher);
	j->source = FETCH_NOBODY;
	j->eof = -1;
	for (size_t i = 0; i < j->nmirrors; i++)
		j->mirrors[i].gave = false;
	if (j->errs->follow.kind != ERR_NONE)
		end_job(j, err_code(&j->errs->follow), &j->errs->follow);
	else
		then(j);
}

static void drain_job(struct fetch_job *j, enum fetch_settle settle,
		      void (*then)(struct fetch_job *j))
{
	if (j->then)
		return;
	j->settle = settle;
	j->then = then;
	if (j->errand)
		fetch_follow(j, 0, NULL);
	fetch_move_stop(j);
	if (j->timer_id)
		http_cancel(j->fetcher->http, j->timer_id);
}

static void say_end(struct fetch_job *j)
{
	end_job(j, err_code(&j->errs->end), &j->errs->end);
}

static void fail_job(struct fetch_job *j, enum fetch_settle settle, const struct err *e)
{
	if (!j->then)
		j->errs->end = *e;
	drain_job(j, settle, say_end);
}

/* The beginning: asks whether the cache has the asset, or whether another process fetches it */

static void on_looked_up(struct fetch_job *j);

static void look_up(struct fetch_job *j)
{
	j->state = FETCH_LOOKUP;
	if (!j->errs)
		j->errs = xcalloc(1, sizeof(*j->errs));
	fetch_follow_look_up(j, on_looked_up);
}

void fetch_run_begin(struct fetch_job *j)
{
	fetch_job_restart(j);
	j->fetcher->pending++;
	if (enter_queue(j))
		look_up(j);
}

/* Asks the cache once more, unless no waiter is left. Without a waiter the job becomes idle under the lock, so no
 * waiter that comes meanwhile is missed. */
static void look_up_again(struct fetch_job *j, bool anew)
{
	struct err e;

	(void)err_fail(&e, ERR_NET, ECANCELED, "cancelled");
	fetch_lock(j->fetcher);
	if (!is_wanted(j)) {
		end_locked(j, -ECANCELED, &e);
		return;
	}
	if (anew)
		fetch_job_restart(j);
	look_up(j);
	fetch_unlock(j->fetcher);
}

static void look_again(struct fetch_job *j)
{
	look_up_again(j, false);
}

/* Begins again for a new waiter, which came just after the last waiter had left. */
static void begin_again(struct fetch_job *j)
{
	look_up_again(j, true);
}

/* Goes on with the bytes that have arrived, which may be all bytes. */
static void go_on_from_here(struct fetch_job *j)
{
	fetch_lock(j->fetcher);
	j->state = FETCH_MOVING;
	if (j->entry) {
		j->bytes = (int64_t)cache_spans(j->entry)->sum;
		j->total = cache_origin_of(j->entry)->total;
	}
	j->best = j->best_before = j->bytes;
	fetch_unlock(j->fetcher);
	j->source = j->bytes > 0 ? FETCH_SEVERAL : FETCH_NOBODY;
	j->eof = -1;
	step_job(j);
}

static void on_look_again(void *arg, int r)
{
	struct fetch_job *j = arg;

	(void)r;
	j->timer_id = 0;
	look_again(j);
}

/* Returns whether the other process has fetched more bytes, since it was last seen to make progress, than LEAST_RATE
 * gives in `stuck_ns`. If another process took over, or the same one began anew, that counts as progress. */
static bool has_got_on(const struct fetch_job *j)
{
	const int64_t least = j->fetcher->opts.stuck_ns / DUR_SEC * LEAST_RATE;

	return j->found_other.pid != j->other.pid || j->found_other.bytes < j->other_bytes ||
	       j->found_other.bytes > j->other_bytes + least;
}

/* Another process fetches the part. That process may take any time while it makes progress. */
static void wait_for_other(struct fetch_job *j)
{
	int64_t now = dur_now();

	fetch_lock(j->fetcher);
	if (j->other_moved_ns == 0 || has_got_on(j)) {
		j->other_moved_ns = now;
		j->other_bytes = j->found_other.bytes;
	}
	if (j->other_since_ns == 0)
		j->other_since_ns = now;
	j->other = j->found_other;
	j->bytes = j->other.bytes;
	j->state = FETCH_ELSEWHERE;
	j->beside = now - j->other_moved_ns >= j->fetcher->opts.stuck_ns;
	fetch_unlock(j->fetcher);
	j->timer_id =
		http_after(j->fetcher->http, j->beside ? 0 : LOOK_UP_AGAIN_NS, on_look_again, j);
}

/* Called on the net thread; when offline, on a worker. */
static void on_looked_up(struct fetch_job *j)
{
	struct err e = j->errs->follow;

	/* looks at the kind, not the errnum: an EBUSY of the system does not mean another process */
	if (e.kind == ERR_BUSY && j->fetcher->http) {
		wait_for_other(j);
		return;
	}
	fetch_lock(j->fetcher);
	j->other_since_ns = 0;
	fetch_unlock(j->fetcher);
	if (e.kind == ERR_NONE)
		end_job(j, 0, NULL);
	else if (e.errnum != ENOENT)
		end_job(j, err_code(&e), &e);
	else if (j->fetcher->http)
		go_on_from_here(j);
	else
		end_job(j, err_fail(&e, ERR_NET, ENOENT, "offline, and not in the cache"), &e);
}

/* Beginning again */

static void be_whole(struct fetch_job *j)
{
	fetch_lock(j->fetcher);
	j->whole = true;
	fetch_job_all_again(j);
	fetch_unlock(j->fetcher);
}

/* The mirrors now have another object than the one whose bytes have arrived. If the object changes again and again,
 * asks only for the whole object. */
static void start_again(struct fetch_job *j)
{
	fetch_lock(j->fetcher);
	fetch_job_all_again(j);
	/* an object that keeps changing is no progress */
	if (j->restarts < RESTARTS_MAX)
		j->best = j->best_before = 0;
	j->met &= ~(unsigned int)FETCH_MET_OTHER;
	fetch_unlock(j->fetcher);
	if (++j->restarts > RESTARTS_MAX)
		be_whole(j);
	drain_job(j, j->whole ? FETCH_DROP : FETCH_EMPTY, step_job);
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

	(void)r; /* r tells whether the timer was due or cancelled; both are right here, as step_job checks whether a
		  * waiter is left */
	j->timer_id = 0;
	step_job(j);
}

/* Every mirror was asked: waits for the next round, or gives up. */
static void end_round(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	uint32_t random = 0;
	struct err e;
	int64_t delay;

	if (j->met & FETCH_MET_OTHER) {
		start_again(j);
		return;
	}
	(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
	fetch_lock(f);
	if (j->bytes > j->best)
		j->best = j->bytes;
	delay = fetch_job_end_round(j, dur_now(), random);
	if (delay < 0)
		(void)fetch_job_verdict(j, &e);
	fetch_unlock(f);
	if (delay < 0)
		fail_job(j, can_any_go_on(j) ? FETCH_KEEP : FETCH_DROP, &e);
	else
		j->timer_id = http_after(f->http, delay, on_timer, j);
}

/* Parts */

static void object_changed(struct fetch_job *j, size_t mirror, const struct err *e)
{
	/* a mirror that contradicts its own earlier answer has a new object; a mirror that contradicts other mirrors
	 * may have the wrong object */
	if (range_mark_of(cache_origin_of(j->entry), j->mirrors[mirror].url)) {
		start_again(j);
		return;
	}
	fetch_lock(j->fetcher);
	j->met |= FETCH_MET_OTHER;
	fetch_unlock(j->fetcher);
	fetch_mirror_failed(j, mirror, e, NULL);
}

/* After a disk error no bytes are kept. If the disk is only full, the bytes stay and wait for room, since members
 * taken on arrival may have filled the disk. */
static void disk_failed(struct fetch_job *j, const struct err *e)
{
	const bool full = io_is_full(e->errnum);
	const enum fetch_settle settle = full && can_any_go_on(j) ? FETCH_KEEP : FETCH_DROP;
	bool had_members;

	fetch_lock(j->fetcher);
	had_members = full && !j->full && j->archive;
	j->full = j->full || full;
	fetch_unlock(j->fetcher);
	if (had_members)
		drain_job(j, settle, look_again);
	else
		fail_job(j, settle, e);
}

static void on_ended(struct fetch_job *j, size_t mirror, enum fetch_outcome outcome,
		     const struct http_result *res, const struct err *e)
{
	switch (outcome) {
	case FETCH_CAME:
		fetch_mirror_came(j, mirror);
		break;
	case FETCH_FAILED:
		fetch_mirror_failed_host(j, mirror, res->status);
		fetch_mirror_failed(j, mirror, e, res);
		break;
	case FETCH_SAME:
		fetch_mirror_failed(j, mirror, e, NULL);
		break;
	case FETCH_FATAL:
		disk_failed(j, e);
		break;
	case FETCH_CHANGED:
		object_changed(j, mirror, e);
		break;
	case FETCH_NO_RANGES:
		j->mirrors[mirror].whole_only = true;
		break;
	}
}

/* Gets an entry to write to. False: the job has to wait for the entry, or ends. */
static bool prepare_entry(struct fetch_job *j)
{
	struct err e;

	if (j->entry && j->whole && !j->parts && cache_spans(j->entry)->sum > 0) {
		drain_job(j, FETCH_DROP, step_job);
		return false;
	}
	if (!j->entry && cache_begin(j->fetcher->cache, &j->digest, &j->entry, &e) < 0) {
		fail_job(j, FETCH_DROP, &e);
		return false;
	}
	/* asks for no more bytes while the disk has no room for them */
	if (!j->parts && cache_spans(j->entry)->sum > 0 && cache_try_room(j->entry, &e) < 0) {
		disk_failed(j, &e);
		return false;
	}
	return true;
}

/* Returns whether the mirror can continue the bytes that have arrived. */
static bool can_go_on(const struct fetch_job *j, const struct fetch_want *want)
{
	return j->parts || cache_spans(j->entry)->sum == 0 ||
	       range_can_resume(cache_origin_of(j->entry), j->mirrors[want->mirror].url);
}

/* Asks for one more part. */
static bool start_one(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	struct fetch_want want;
	bool any;

	fetch_lock(f);
	for (size_t i = 0; i < j->nmirrors; i++)
		j->mirrors[i].rank = fetch_hosts_rank(&f->hosts, j->mirrors[i].url);
	any = fetch_parts_next(j, dur_now(), &want);
	fetch_unlock(f);
	if (!any)
		return false;
	if (!fetch_move_may_start(j))
		return false;
	if (!can_go_on(j, &want)) {
		drain_job(j, FETCH_EMPTY, step_job);
		return false;
	}
	fetch_move_start(j, &want);
	return true;
}

static void start_parts(struct fetch_job *j)
{
	fetch_lock(j->fetcher);
	j->state = FETCH_MOVING;
	fetch_unlock(j->fetcher);
	if (j->timer_id || !prepare_entry(j))
		return;
	while (!j->then && start_one(j))
		;
	if (!j->parts && j->state == FETCH_MOVING && !j->then)
		end_round(j);
}

/* The verdict */

static void entry_committed(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;

	fetch_lock(f);
	for (size_t i = 0; i < j->nmirrors; i++)
		if (j->mirrors[i].gave)
			fetch_hosts_note(&f->hosts, j->mirrors[i].url, FETCH_HOST_GOOD);
	fetch_unlock(f);
	end_job(j, 0, NULL);
}

/* Handles wrong bytes. If the bytes came in several answers, it is unknown which mirror sent them. */
static void wrong_bytes(struct fetch_job *j, const struct err *e)
{
	if (j->source >= j->nmirrors) {
		be_whole(j);
	} else {
		j->whole = true;
		fetch_mirror_failed(j, j->source, e, NULL);
	}
	drain_job(j, FETCH_DROP, step_job);
	step_job(j);
}

static void on_committed(struct fetch_job *j)
{
	struct err e = j->errs->follow;

	if (e.kind == ERR_NONE)
		entry_committed(j);
	else if (e.kind == ERR_INTEGRITY)
		wrong_bytes(j, &e);
	else
		end_job(j, err_code(&e), &e);
}

static void on_followed(struct fetch_job *j)
{
	if (j->errs->follow.kind != ERR_NONE)
		fail_job(j, FETCH_DROP, &j->errs->follow);
	step_job(j);
}

/* Lets a worker hash the newest bytes. If the bytes are few and more will come, waits for more. */
static void follow_on(struct fetch_job *j)
{
	uint64_t here, at, size;

	if (j->errand == FETCH_OWNS || j->then || j->state < FETCH_MOVING || !j->entry)
		return;
	here = spans_missing(cache_spans(j->entry), 0);
	at = j->errand ? 0 : cache_followed(j->entry);
	if (here > at && (here - at >= FOLLOW_LEAST || fetch_parts_complete(j, &size)))
		fetch_follow(j, here, on_followed);
}

/* Stops every transfer, as all bytes have arrived. */
static void complete_job(struct fetch_job *j, uint64_t size)
{
	fetch_move_stop(j);
	if (j->parts || j->errand)
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

static void step_job(struct fetch_job *j)
{
	uint64_t size;
	bool moving, wanted;

	fetch_lock(j->fetcher);
	moving = j->state >= FETCH_MOVING;
	wanted = is_wanted(j);
	/* the worker that publishes the entry reads the mirrors' names */
	if (moving && j->errand != FETCH_OWNS)
		take_news(j);
	fetch_unlock(j->fetcher);
	if (!moving || j->errand == FETCH_OWNS)
		return;
	if (!wanted)
		drain_job(j, FETCH_KEEP, begin_again);
	if (!j->then && fetch_parts_complete(j, &size))
		complete_job(j, size);
	else if (!j->then)
		start_parts(j);
	if (j->then && !j->parts && !j->errand && !j->timer_id)
		fetch_follow_settle(j, on_settled);
	else
		follow_on(j);
}

void fetch_run_cancelled(struct fetch_job *j)
{
	struct fetcher *f = j->fetcher;
	struct fetch_waiter *waiters;

	fetch_lock(f);
	waiters = take_waiters(j, false);
	fetch_unlock(f);
	tell_waiters(waiters, -ECANCELED, NULL);
	if (f->http)
		step_job(j);
	fetch_end_pending(f);
}

void fetch_run_init(struct fetcher *f)
{
	static const struct fetch_ops ops = { step_job, follow_on, on_ended };

	f->ops = &ops;
}
