/* baseline.h - compares the tasks of two sets of documents, without a machine
 * The walk over a plan asks the tasks of the earlier documents instead of the machine. It assumes that the machine
 * is exactly as these documents say. So `plan` and `diff` share the walk and its lines.
 * Owner: the arena. Errors: none. Threads: one; const after baseline_set.
 * Tests: test_foreign.c. */
#pragma once

#include "nodeup/base/map.h"
#include "nodeup/tasks/task.h"

/* Makes all checks of `tasks` compare with `was` instead of the machine. A task without its own compare is equal if
 * it existed before, else missing. */
void baseline_set(struct arena *a, struct task *const *was, size_t n_was, struct task **tasks,
		  size_t n, struct task_ctx *ctx);
/* The `compare` of a task whose work is done once, on a running machine. The task is equal in an image, and equal if
 * the earlier documents had it. */
int baseline_once(const struct task *t, const struct task *was, struct task_ctx *ctx,
		  struct task_diff *diff);
/* The `compare` of a new task about an ordinary user's file: unsure, as that user may not exist. */
int baseline_of_user(const char *user, struct task_diff *diff);
/* Returns the earlier task of the same kind and name. NULL: there was none, or the machine is asked. */
const struct task *baseline_of(const struct task *t, const struct task_ctx *ctx);
/* Lists the titles of objects that the earlier documents leave on the machine and the new ones do not name. */
struct strv baseline_left(struct arena *a, struct task *const *was, size_t n_was,
			  struct task *const *tasks, size_t n);
