/* causes.h - groups failed tasks by their cause, so that each cause is told once
 * Two failed tasks have one cause in three cases: their errors name the same cause (err_cause), both met the same
 * trouble of the whole machine, or their messages are equal. A task that failed or was skipped because of another
 * task is not a cause; the other task is.
 * Invariant: the cause of the run's first failure comes first, and decides the exit status.
 * Owner: the caller's arena. Errors: none. Units: bytes. Threads: the scheduler's. Source: -.
 * Tests: test_causes.c. */
#pragma once

#include "nodeup/run/run.h"

struct cause {
	const char *name; /* "no room on /var" */
	const struct run_outcome *first;
	const struct run_outcome **hit; /* tasks that failed by this cause, the first included */
	size_t n_hit;
	const struct run_outcome **held; /* tasks that the failed tasks held up */
	size_t n_held;
	struct err_room room; /* room that these tasks need; size 0: the cause is not about room */
};

struct causes {
	struct cause *v;
	size_t n;
};

/* Returns whether the task's failure is only a warning for the run. */
bool causes_may_fail(const struct run_outcome *o);
/* Finds all causes of a report. Leaves out causes that held up no task that the run needs. */
struct causes causes_find(struct arena *a, const struct run_report *rep);
/* Returns the first task that failed by the same cause as o. */
const struct run_outcome *causes_first(const struct run_report *rep, const struct run_outcome *o);
/* Returns the name of an error's cause, or else its message. */
const char *causes_name(const struct err *e);
/* Rewords the first failed task's error as that of the whole run. Returns the error's code. */
int causes_tell(const struct run_report *rep, struct err *e);
