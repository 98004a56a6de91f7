/* worker.h - jobs on a pool of threads; the caller can poll for their ends
 * The caller pushes jobs and takes finished ones; a finished job makes worker_fd readable. While other jobs wait for
 * a thread, one wake-up may serve several finished jobs; it comes at the latest when a job begins that is not brief.
 * Owner: workers_new/workers_free (which joins); jobs are the caller's. Errors: SYSTEM.
 * Threads: push and take from the owner's thread only.
 * Tests: test_worker.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"

struct workers;

struct worker_job {
	void (*run)(struct worker_job *);
	bool brief; /* the job neither waits nor computes much, or it calls workers_tell before it does */
	struct worker_job *next; /* for worker.c, like the next member */
	struct workers *workers;
};

/* Starts the threads. */
int workers_new(struct workers **ret, struct err *e) must_check;
/* Lets running jobs end, drops queued ones, and joins the threads. NULL is fine. */
void workers_free(struct workers *w);
/* Hands over a job. */
void workers_push(struct workers *w, struct worker_job *job);
/* Returns a finished job, or NULL. */
struct worker_job *workers_take(struct workers *w);
/* Returns a descriptor that is readable if there may be a finished job, and after workers_wake. */
int workers_fd(const struct workers *w);
/* Makes the owner's poll return. Any thread. */
void workers_wake(struct workers *w);
/* Makes the owner's poll return if a job has finished and the owner was not told. Any thread. */
void workers_tell(struct workers *w);
/* Forgets the wake-ups so far. */
void workers_drain(struct workers *w);
