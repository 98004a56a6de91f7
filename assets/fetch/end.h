/* end.h - stop what moves of a job, settle its entry, and go on or tell the waiters
 * A job can end, or begin anew, only when no part moves and no worker has its entry. Until then `then`
 * says what to do; the first request decides it.
 * Owner: the fetcher. Errors: to the waiters. Threads: the net thread; offline a worker. */
#pragma once

#include "assets/fetch/job.h"

/* Stop what moves; once nothing does, settle the entry so and go on with `then`. */
void fetch_end_drain(struct fetch_job *j, enum fetch_settle settle,
		     void (*then)(struct fetch_job *j));
/* Stop the job, and then give all waiters the error. */
void fetch_end_fail(struct fetch_job *j, enum fetch_settle settle, const struct err *e);
/* Nothing moves any more: settle the entry. */
void fetch_end_settle(struct fetch_job *j);
/* The job is over without an entry: tell all waiters. The second is called with the lock, and releases it. */
void fetch_end(struct fetch_job *j, int r, const struct err *e);
void fetch_end_locked(struct fetch_job *j, int r, const struct err *e);
