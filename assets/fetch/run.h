/* run.h - decides what becomes of a job: its states, from the look-up to the verdict
 *
 *   IDLE -> QUEUED -> LOOKUP -> MOVING -> IDLE, and all waiters are told
 *                     |  ^
 *                     v  |  another process fetches it
 *                  ELSEWHERE
 *
 * Of the processes that share a cache, the one that holds the lock of an object's part fetches it. The
 * other processes wait and ask the cache again. They find the object, or the part that was left when the
 * fetching process failed or died. If that process gets less than 1 KiB a second for a minute, the others
 * fetch the object beside it.
 * One function looks at a job that moves and does what is to be done; every callback ends in that function.
 * A job can end, or begin anew, only when no part moves and no worker has its entry. Until then `then` says
 * what to do; the first request decides the value of `then`.
 * Owner: the fetcher. Errors: to the waiters. Threads: as said.
 * Tests: test_fetch_queue.c. */
#pragma once

#include "assets/fetch/job.h"

/* Sets how many jobs may run at a time, by the limit on descriptors. */
void fetch_queue_init(struct fetcher *f);
/* Gives a new fetcher the functions that move its jobs. */
void fetch_run_init(struct fetcher *f);
/* Begins an idle job. Called on any thread, with the fetcher's lock held. */
void fetch_run_begin(struct fetch_job *j);
/* Tells the cancelled waiters. Stops the job if no other waiter is left. Called on the net thread; when offline, on
 * a worker. */
void fetch_run_cancelled(struct fetch_job *j);
