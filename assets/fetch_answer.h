/* fetch_answer.h - what a mirror answers, as it comes: whose bytes, from where on, how fast
 * Owner: the fetcher; all is called on the net thread, by or after a transfer of the job. Errors: NET
 * when the bytes are of another object or come too slowly, SYSTEM of the cache. Units: bytes. */
#pragma once

#include <pthread.h>
#include "assets/fetch_job.h"

struct fetcher {
	struct http *http; /* NULL: offline */
	struct cache *cache;
	pthread_t disk; /* hashes and syncs, so that the net thread never waits for a disk */

	pthread_mutex_t lock; /* what follows, and the jobs */
	pthread_cond_t changed;
	struct fetch_job *jobs;
	struct fetch_hosts hosts;
	struct errand *first, **last;
	size_t pending; /* jobs that are not idle, and callbacks under way */
	bool stop;
};

/* The callbacks of a transfer; the argument is the job. */
void fetch_answer_head(void *arg, const struct http_result *res);
int fetch_answer_data(void *arg, const void *p, size_t n, struct err *e);
/* Whether a failed answer tells that what is here is complete, or part of what is no more. */
bool fetch_answer_is_about_range(struct fetch_job *j, const struct http_result *res);
/* Hold a failure against the host, unless it only says no (403, 404): of other assets it may have
 * more. */
void fetch_answer_failed(struct fetch_job *j, const struct http_result *res);
