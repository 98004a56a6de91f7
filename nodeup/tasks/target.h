/* target.h - where a task writes a file or a link: the directory is there, and nothing is in the way
 * Invariant: what is in a directory in the way stays: it is set aside, see aside.h, and only an empty one is removed.
 * Owner: the caller has the descriptor or the stage. Errors: SYSTEM. Threads: any.
 * Tests: test_tasks.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Open the directory that a path is in, which is made if need be, and make way for the path. */
int target_open(struct task_ctx *ctx, const char *path, int *ret_dir, const char **ret_name,
		struct err *e) must_check;
/* Stage a file in that directory. */
int target_stage(struct task_ctx *ctx, const char *path, struct io_stage *s,
		 struct err *e) must_check;
