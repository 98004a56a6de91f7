/* step_back.h - let services start where their content still is, when a move came to nothing
 * A mount unit asserts the mark of a complete copy, and what requires it never starts on the bare
 * directory. Only the bare directory has content that was not moved: a file on the
 * root disk tells the mount unit to step back, so that a node which worked goes on working. It is
 * written only where nothing is on the volume, and removed before a copy is begun.
 * Owner: none. Errors: SYSTEM. Threads: all functions.
 * Tests: test_step_back.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Returns whether the file is there. */
bool step_back_is_on(const struct task_ctx *ctx, const struct task_move *m);
/* Returns whether the source has what the volume, mounted, was to have and has not. */
bool step_back_is_due(const struct task_ctx *ctx, const struct task_move *m);
/* Write it, and remove it if it is there; both durably. */
int step_back_put(const struct task_ctx *ctx, const struct task_move *m, struct err *e) must_check;
int step_back_remove(const struct task_ctx *ctx, const struct task_move *m,
		     struct err *e) must_check;
