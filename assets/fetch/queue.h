/* queue.h - assets whose turn has not come
 * One under way holds an open file for what has arrived, and while it is unpacked a pipe, a report and a
 * directory. So many of them are under way as descriptors allow; the others wait in the order they came,
 * and hold nothing.
 * Owner: the fetcher. Errors: none. Threads: under the fetcher's lock. */
#pragma once

#include "assets/fetch/job.h"

/* How many may be under way, by the limit on descriptors. */
void fetch_queue_init(struct fetcher *f);
/* Whether the job may begin; if not it waits. */
bool fetch_queue_enter(struct fetch_job *j);
/* One has ended: the next one to begin, or NULL. */
struct fetch_job *fetch_queue_leave(struct fetcher *f);
