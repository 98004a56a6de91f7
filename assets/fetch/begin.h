/* begin.h - a job begins: what the cache has of it, and whether another process fetches it
 * Of the processes that share a cache, the one that holds the lock of an object's part fetches it. The
 * others wait and look again, so that they find what it brought, or what it left when it failed or died.
 * If it gets less than 1 KiB a second for a minute, they fetch the object beside it.
 * Owner: the fetcher. Errors: to the waiters. Threads: as said. */
#pragma once

#include "assets/fetch/job.h"

/* Begin a job that is idle; the fetcher's lock is held, on any thread. */
void fetch_begin(struct fetch_job *j);
/* Its turn has come: the same. */
void fetch_begin_look_up(struct fetch_job *j);
/* Begin anew if a waiter has come meanwhile, else report that it was cancelled. On the net thread. */
void fetch_begin_again(struct fetch_job *j);
