/* worker.h - jobs on a pool of threads, whose ends the caller can poll for
 * The caller pushes jobs and takes finished ones; a finished job makes worker_fd readable. While others wait for
 * a thread it does so together with them, but never later than a job begins that is not brief.
 * Owner: workers_new/workers_free (which joins); jobs are the caller's. Errors: SYSTEM.
 * Threads: push and take from the owner's thread only.
 * Tests: test_worker.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"

struct workers;

struct worker_job {
	void (*run)(struct worker_job *);
	bool brief;              /* neither waits nor computes much, or calls workers_tell before */
	struct worker_job *next; /* ours, as what follows */
	struct workers *workers;
};

/* Start the threads. */
int workers_new(struct workers **ret, struct err *e) must_check;
/* Let running jobs end, drop queued ones, join. NULL is fine. */
void workers_free(struct workers *w);
/* Hand over a job. */
void workers_push(struct workers *w, struct worker_job *job);
/* A finished job, or NULL. */
struct worker_job *workers_take(struct workers *w);
/* Readable when there may be a finished job or after workers_wake. */
int workers_fd(const struct workers *w);
/* Make the owner's poll return; any thread. */
void workers_wake(struct workers *w);
/* Make it return if something is done that it was not told of; any thread. */
void workers_tell(struct workers *w);
/* Forget the wake-ups so far. */
void workers_drain(struct workers *w);
