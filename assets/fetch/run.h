/* run.h - what moves a job: parts, rounds, the follower
 * One function looks at a job and does what is to be done; every callback ends in it. What has to wait
 * until nothing moves any more (a restart, the end) is put down as what to do `then`.
 * Owner: the fetcher. Errors: to the waiters. Threads: as said. */
#pragma once

#include "assets/fetch/job.h"

/* Install the callbacks that moving parts use. */
void fetch_run_init(struct fetcher *f);
/* Look at it. On the net thread. */
void fetch_run_step(struct fetch_job *j);
