#include "assets/fetch/begin.h"

#include "assets/fetch/end.h"
#include "assets/fetch/follow.h"
#include "assets/fetch/move.h"
#include "assets/fetch/queue.h"
#include "assets/fetch/wait.h"
#include "nodeup/base/dur.h"

/* how often another process is looked after */
#define LOOK_NS (250 * DUR_MS)

/* bytes a second; below that a mirror stalls (http.h) */
enum { LEAST_RATE = 1024 };

static void lock(struct fetcher *f)
{
	(void)pthread_mutex_lock(&f->lock);
}

static void unlock(struct fetcher *f)
{
	(void)pthread_mutex_unlock(&f->lock);
}

static void on_looked_up(void *arg, int r);

void fetch_begin_look_up(struct fetch_job *j)
{
	j->state = FETCH_LOOKUP;
	if (!j->errs)
		j->errs = xcalloc(1, sizeof(*j->errs));
	fetch_follow_look_up(j, on_looked_up);
}

void fetch_begin(struct fetch_job *j)
{
	fetch_job_restart(j);
	j->fetcher->pending++;
	if (fetch_queue_enter(j))
		fetch_begin_look_up(j);
}

/* A moment ago no waiter was left. A new waiter is in time until the lock is released under which the job
 * becomes idle. */
void fetch_begin_again(struct fetch_job *j)
{
	struct err e;

	(void)err_fail(&e, ERR_NET, ECANCELED, "cancelled");
	lock(j->fetcher);
	if (!fetch_wait_is_wanted(j)) {
		fetch_end_locked(j, -ECANCELED, &e);
		return;
	}
	fetch_job_restart(j);
	fetch_begin_look_up(j);
	unlock(j->fetcher);
}

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
	j->fetcher->ops->look(j);
}

static void on_look_again(void *arg, int r)
{
	struct fetch_job *j = arg;

	(void)r;
	j->timer_id = 0;
	lock(j->fetcher);
	if (fetch_wait_is_wanted(j)) {
		fetch_begin_look_up(j);
		unlock(j->fetcher);
		return;
	}
	unlock(j->fetcher);
	fetch_begin_again(j);
}

/* Since a minute ago, say, by as much as a mirror is asked for that is not to be given up; or it is another
 * one, or begins anew. */
static bool has_got_on(const struct fetch_job *j)
{
	const int64_t least = j->fetcher->opts.stuck_ns / DUR_SEC * LEAST_RATE;

	return j->found.pid != j->held.pid || j->found.bytes < j->held_bytes ||
	       j->found.bytes > j->held_bytes + least;
}

/* Another process has the part. It may take as long as it likes, as long as it gets on. */
static void wait_for_other(struct fetch_job *j)
{
	int64_t now = dur_now();

	lock(j->fetcher);
	if (j->held_moved_ns == 0 || has_got_on(j)) {
		j->held_moved_ns = now;
		j->held_bytes = j->found.bytes;
	}
	if (j->held_since_ns == 0)
		j->held_since_ns = now;
	j->held = j->found;
	j->bytes = j->held.bytes;
	j->state = FETCH_HELD;
	j->beside = now - j->held_moved_ns >= j->fetcher->opts.stuck_ns;
	unlock(j->fetcher);
	j->timer_id = http_after(j->fetcher->http, j->beside ? 0 : LOOK_NS, on_look_again, j);
}

/* On the net thread; offline on a worker. */
static void on_looked_up(void *arg, int r)
{
	struct fetch_job *j = arg;
	struct err e = j->errs->follow;

	(void)r; /* of the timer; the cache's answer is in errs */
	j->following = j->exclusive = false;
	/* by its kind: an EBUSY of the system does not name a holder */
	if (e.kind == ERR_BUSY) {
		wait_for_other(j);
		return;
	}
	lock(j->fetcher);
	j->held_since_ns = 0;
	unlock(j->fetcher);
	if (e.kind == ERR_NONE)
		fetch_end(j, 0, NULL);
	else if (e.errnum != ENOENT)
		fetch_end(j, err_code(&e), &e);
	else if (j->fetcher->http)
		go_on_from_here(j);
	else
		fetch_end(j, err_fail(&e, ERR_NET, ENOENT, "offline, and not in the cache"), &e);
}
