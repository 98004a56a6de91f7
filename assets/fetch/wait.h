/* wait.h - the waiters of a job, and what they are told
 * Owner: the job. Errors: none. Threads: under the fetcher's lock, but for fetch_wait_tell: without it. */
#pragma once

#include "assets/fetch/job.h"

/* Whether a waiter is left that has not cancelled. */
bool fetch_wait_is_wanted(const struct fetch_job *j);
/* Take those away that have cancelled, or all. */
struct fetch_waiter *fetch_wait_take(struct fetch_job *j, bool all);
/* Call done of each, with this result or with -ECANCELED, and release them. */
void fetch_wait_tell(struct fetch_waiter *w, int r, const struct err *e);
