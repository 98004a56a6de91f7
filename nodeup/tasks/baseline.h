/* baseline.h - what a change of documents changes, from the tasks of both alone
 * The walk of a plan then asks the tasks of the documents before, instead of the machine: what they say is
 * taken to be there, and nothing else. So the same walk and the same lines serve `plan` and `diff`.
 * Owner: the arena. Errors: none. Threads: one; const after baseline_set.
 * Tests: test_foreign.c. */
#pragma once

#include "nodeup/base/map.h"
#include "nodeup/tasks/task.h"

/* Have all checks of `tasks` compare with `was` instead of the machine. Without a compare of its own, a task is equal if there was
 * one, else missing. */
void baseline_set(struct arena *a, struct task *const *was, size_t n_was, struct task **tasks,
		  size_t n, struct task_ctx *ctx);
/* The `compare` of what is done on a machine that runs, once: equal in an image, and where it was done before. */
int baseline_once(const struct task *t, const struct task *was, struct task_ctx *ctx,
		  struct task_diff *diff);
/* The answer for what is an ordinary user's and was not wanted before: it depends on whether there is that user. */
int baseline_of_user(const char *user, struct task_diff *diff);
/* The task of the same kind and name in the documents before, or NULL: there was none, or the machine is asked. */
const struct task *baseline_of(const struct task *t, const struct task_ctx *ctx);
/* The titles of what the documents before leave on the machine and the new ones do not name. */
struct strv baseline_left(struct arena *a, struct task *const *was, size_t n_was,
			  struct task *const *tasks, size_t n);
