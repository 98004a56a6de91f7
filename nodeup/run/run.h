/* run.h - execute a plan: when, in what order, and what came of it
 * One scheduler thread owns the graph; workers only check and apply. Nothing that waits holds a
 * worker. A failed task blocks what needs it while everything else goes on; the run fails with the
 * first cause when nothing can go on.
 * Owner: outcomes live in the caller's arena. Errors: the first failed task's. Units: ns, monotonic.
 * Threads: one. Source: samurai's build.c (blocked-count scheduling).
 * Tests: test_run.c, test_run_gate.c. */
#pragma once

#include "nodeup/run/worker.h"
#include "nodeup/tasks/task.h"

/* The state, its name for reports, whether it is final, and whether what needs the task can go on then. */
/* clang-format off */
#define RUN_STATES(X) \
	X(RUN_BLOCKED_BY_NEEDS, "pending", false, false) /* not all it needs is done */ \
	X(RUN_READY, "ready", false, false) \
	X(RUN_WORKING, "working", false, false) \
	X(RUN_WAITING, "waiting", false, false) /* on something outside, see outcome.run.waiting */ \
	X(RUN_RETRYING, "retrying", false, false) /* failed, will be tried again at run.next_ns */ \
	X(RUN_EQUAL, "right", true, true) \
	X(RUN_CHANGED, "changed", true, true) /* applied; in a plan's walk: would be */ \
	X(RUN_UNSURE, "not compared", true, true) /* in a plan's walk: apply would compare it, with what it fetches */ \
	X(RUN_UNNEEDED, "not needed", true, true) \
	X(RUN_FAILED, "failed", true, false) \
	X(RUN_SKIPPED, "skipped", true, false) /* something it needs failed */
/* clang-format on */

#define RUN_STATE(state, ...) state,
enum run_state { RUN_STATES(RUN_STATE) RUN_STATE_MAX };

struct run_outcome {
	const struct task *task;
	enum run_state state;
	struct task_run run;
	struct task_diff diff; /* why it was, or would be, applied */
	struct err *error;     /* the last one, when attempts failed; the arena's */
	/* of a skipped one, and of one that fails for want of what it is made from: the task that failed; else NULL */
	const struct task *because;
	unsigned int attempts;
	int64_t start_ns, end_ns;
	int64_t work_ns; /* when a worker got it last */
};

struct run_report {
	struct run_outcome *outcomes; /* by task index */
	size_t n;
	size_t counts[RUN_STATE_MAX];
	int64_t start_ns, end_ns;
	size_t first_failed; /* index; n when none */
};

/* Called from the scheduler: when a task is settled or starts to wait or retry (o set), and about
 * four times a second (o NULL). */
typedef void run_watch_fn(void *arg, const struct run_report *rep, const struct run_outcome *o);

/* Called once, from the scheduler, when the first task is about to be applied and no worker is at work. < 0 with *e
 * ends the run: nothing was applied. A run where nothing differs never calls it. */
typedef int run_gate_fn(void *arg, const struct run_report *rep, struct err *e);

struct run_req {
	const struct task *const *tasks;
	size_t n;
	struct task_ctx *ctx;
	struct workers *workers; /* outlives the fetcher, whose callbacks wake it; run_plan: NULL */
	int64_t deadline_ns;     /* 0: none */
	int64_t silence_ns;      /* how long what must answer may say nothing; 0: a minute */
	run_watch_fn *watch;
	void *watch_arg;
	run_gate_fn *gate; /* NULL: every task may be applied at once */
	void *gate_arg;
};

/* Check and apply everything. */
int run_execute(struct arena *a, const struct run_req *req, struct run_report *ret,
		struct err *e) must_check;
/* Check everything, apply nothing: what run_execute would do. A check that fails is an outcome. */
void run_plan(struct arena *a, const struct run_req *req, struct run_report *ret);
/* Returns whether a state is final, and its name for reports. */
bool run_is_settled(enum run_state s);
const char *run_state_name(enum run_state s);
