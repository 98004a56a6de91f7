#include "assets/fetch/end.h"

#include "assets/fetch/begin.h"
#include "assets/fetch/follow.h"
#include "assets/fetch/move.h"
#include "assets/fetch/queue.h"
#include "assets/fetch/wait.h"

void fetch_end_locked(struct fetch_job *j, int r, const struct err *e)
{
	struct fetcher *f = j->fetcher;
	struct fetch_waiter *waiters = fetch_wait_take(j, true);
	struct fetch_job *next = fetch_queue_leave(f);
	/* what failed may be tried again, and is told what went wrong before; *e may be one of them */
	autofree struct fetch_errs *errs = r >= 0 ? TAKE(j->errs) : NULL;

	j->state = FETCH_IDLE;
	j->next_try_ns = 0;
	if (next)
		fetch_begin_look_up(next);
	(void)pthread_mutex_unlock(&f->lock);
	fetch_wait_tell(waiters, r, e);
	fetch_move_over(f);
}

void fetch_end(struct fetch_job *j, int r, const struct err *e)
{
	(void)pthread_mutex_lock(&j->fetcher->lock);
	fetch_end_locked(j, r, e);
}

static void on_settled(void *arg, int r)
{
	struct fetch_job *j = arg;
	void (*then)(struct fetch_job * j) = j->then;

	(void)r; /* of the timer; what became of the entry is in errs */
	j->following = j->exclusive = false;
	j->then = NULL;
	(void)pthread_mutex_lock(&j->fetcher->lock);
	j->bytes = 0;
	(void)pthread_mutex_unlock(&j->fetcher->lock);
	j->mixed = false;
	j->source = SIZE_MAX;
	j->eof = -1;
	for (size_t i = 0; i < j->nmirrors; i++)
		j->mirrors[i].gave = false;
	if (j->errs->follow.kind != ERR_NONE)
		fetch_end(j, err_code(&j->errs->follow), &j->errs->follow);
	else
		then(j);
}

void fetch_end_settle(struct fetch_job *j)
{
	fetch_follow_settle(j, on_settled);
}

void fetch_end_drain(struct fetch_job *j, enum fetch_settle settle,
		     void (*then)(struct fetch_job *j))
{
	if (j->then)
		return;
	j->settle = settle;
	j->then = then;
	fetch_move_stop(j);
	if (j->timer_id)
		http_cancel(j->fetcher->http, j->timer_id);
}

static void say_end(struct fetch_job *j)
{
	fetch_end(j, err_code(&j->errs->end), &j->errs->end);
}

void fetch_end_fail(struct fetch_job *j, enum fetch_settle settle, const struct err *e)
{
	if (!j->then)
		j->errs->end = *e;
	fetch_end_drain(j, settle, say_end);
}
