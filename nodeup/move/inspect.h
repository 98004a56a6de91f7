/* inspect.h - whether a move is to do, is done, or must not be
 * The content of a directory goes to a volume that will be mounted over it: services are stopped, a
 * copy is made beside its place, proven, put there and marked; then the bind mount may show it. The
 * old content stays where it is, below the mount. If the source changed after the copy, nodeup refuses to
 * mount over it. Marks lie on the volume, so that a fresh disk has none. They are named after the
 * machine, so that another machine's marks do not count here.
 * Owner: the arena. Errors: SYSTEM; REFUSED where content or a mount would be hidden; BUSY while a
 * program uses the directory. Threads: all functions. Source: kube-up's format-disks.sh, which left
 * symbolic links instead.
 * Tests: test_step_back.c. */
#pragma once

#include "nodeup/tasks/task.h"

enum { MOVE_TO_DO = 0, MOVE_DONE = 1 };

/* Returns whether the mark is there. */
bool move_has_mark(const struct task_ctx *ctx, const struct task_move *m);
/* Returns whether nothing is left to be moved: MOVE_DONE or MOVE_TO_DO; an error when nothing may be mounted
 * over the directory as it is, or when it is known already that moving it would come to nothing. */
int move_inspect(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		 struct err *e) must_check;
/* A run that was killed before it put its mark left exactly the copy: any other is refused. */
int move_is_copied(const struct task_ctx *ctx, const struct task_move *m, struct err *e) must_check;
/* Returns whether what is there was moved once, to a disk that is empty or another now. */
bool move_is_of_long_ago(const struct task_ctx *ctx, const struct task_move *m);
/* Returns whether a directory is there and has entries. */
bool move_has_content(const struct task_ctx *ctx, const char *path);
