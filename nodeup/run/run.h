/* run.h - executes a plan: when, in what order, with which result
 * One scheduler thread owns the graph; workers only check and apply. A waiting task holds no worker. A failed task
 * blocks its users while all others go on. When nothing can go on, the run fails with the first cause.
 * Owner: outcomes live in the caller's arena. Errors: the first failed task's. Units: ns, monotonic. Threads: one.
 * Source: samurai's build.c (blocked-count scheduling).
 * Tests: test_run.c, test_run_gate.c. */
#pragma once

#include "nodeup/run/worker.h"
#include "nodeup/tasks/task.h"

/* The state, its name in reports, whether it is final, and whether the task's users can go on then. */
/* clang-format off */
#define RUN_STATES(X) \
	X(RUN_BLOCKED_BY_NEEDS, "pending", false, false) /* not all its needs are done */ \
	X(RUN_READY, "ready", false, false) \
	X(RUN_WORKING, "working", false, false) \
	X(RUN_WAITING, "waiting", false, false) /* waits for something outside, see outcome.run.waiting */ \
	X(RUN_RETRYING, "retrying", false, false) /* failed, and will be tried again at run.next_ns */ \
	X(RUN_EQUAL, "right", true, true) \
	X(RUN_CHANGED, "changed", true, true) /* was applied; in a plan: would be applied */ \
	X(RUN_UNSURE, "not compared", true, true) /* in a plan: apply would compare the object with bytes that it
						   * must fetch first */ \
	X(RUN_UNNEEDED, "not needed", true, true) \
	X(RUN_FAILED, "failed", true, false) \
	X(RUN_SKIPPED, "skipped", true, false) /* one of its needs failed */
/* clang-format on */

#define RUN_STATE(state, ...) state,
enum run_state { RUN_STATES(RUN_STATE) RUN_STATE_MAX };

struct run_outcome {
	const struct task *task;
	enum run_state state;
	struct task_run run;
	struct task_diff diff; /* why it was, or would be, applied */
	struct err *error;     /* the last error of the task's attempts, in the arena */
	/* the failed task for which this one was skipped, or failed for lack of a source; else NULL */
	const struct task *because;
	unsigned int attempts;
	int64_t start_ns; /* as if it had not waited for the gate, or for tasks that serve it */
	int64_t end_ns;
	int64_t work_ns;          /* when a worker last got the task */
	int64_t waited_ns;        /* how long it waited for something outside, in all */
	int64_t held_ns;          /* its longest wait */
	const char *held_by;      /* what that was for; NULL: no wait was long */
	const struct task *after; /* the task that it waited for last; NULL: none */
};

struct run_report {
	struct run_outcome *outcomes; /* by task index */
	size_t n;
	size_t counts[RUN_STATE_MAX];
	int64_t start_ns, end_ns;
	size_t first_failed; /* index of the first failed task; n if none failed */
};

/* Called by the scheduler with `o` when a task is settled or begins to wait or retry, and about four times a second
 * with NULL. */
typedef void run_watch_fn(void *arg, const struct run_report *rep, const struct run_outcome *o);

/* Called once by the scheduler when the first task is about to be applied and no worker works. < 0 with *e ends the
 * run, and nothing was applied. Never called if nothing differs. */
typedef int run_gate_fn(void *arg, const struct run_report *rep, struct err *e);

struct run_req {
	const struct task *const *tasks;
	size_t n;
	struct task_ctx *ctx;
	/* must outlive the fetcher, whose callbacks wake the workers' owner; NULL for run_plan */
	struct workers *workers;
	int64_t deadline_ns; /* 0: none */
	int64_t silence_ns;  /* how long a program that must answer may be silent; 0: a minute */
	run_watch_fn *watch;
	void *watch_arg;
	run_gate_fn *gate; /* NULL: every task may be applied at once */
	void *gate_arg;
};

/* Checks and applies everything. */
int run_execute(struct arena *a, const struct run_req *req, struct run_report *ret,
		struct err *e) must_check;
/* Checks everything and applies nothing: shows what run_execute would do. A failed check is an outcome. */
void run_plan(struct arena *a, const struct run_req *req, struct run_report *ret);
/* Returns whether a state is final, and its name for reports. */
bool run_is_settled(enum run_state s);
const char *run_state_name(enum run_state s);
