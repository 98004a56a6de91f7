/* causes.h - what one cause did to many tasks, told once
 * Two failed tasks have one cause if their errors name the same one (err_cause), if both met the same trouble
 * of the whole machine, or if both say the same words. A task that failed or was skipped for want of another one
 * is not a cause: it is held by it.
 * Invariant: the cause of the run's first failure comes first, and decides the exit status.
 * Owner: the caller's arena. Errors: none. Units: bytes. Threads: the scheduler's. Source: -.
 * Tests: test_causes.c. */
#pragma once

#include "nodeup/run/run.h"

struct cause {
	const char *name; /* "no room on /var" */
	const struct run_outcome *first;
	const struct run_outcome **hit; /* that failed of it, with the first */
	size_t n_hit;
	const struct run_outcome **held; /* that these kept from being done */
	size_t n_held;
	struct err_room room; /* wanted by all of them; size 0: it is about something else */
};

struct causes {
	struct cause *v;
	size_t n;
};

/* Returns whether the task's failing is a warning, and the run goes well without it. */
bool causes_may_fail(const struct run_outcome *o);
/* All causes of a report, without those that kept the run from nothing. */
struct causes causes_find(struct arena *a, const struct run_report *rep);
/* The first task that failed of the cause of o. */
const struct run_outcome *causes_first(const struct run_report *rep, const struct run_outcome *o);
/* Returns what to call the cause of an error; its message, if it has no other name. */
const char *causes_name(const struct err *e);
/* Make of the error of the first failed task what the whole run failed of. Returns the error's code. */
int causes_tell(const struct run_report *rep, struct err *e);
