/* move.h - what the three tasks of a move know together
 * The content of a directory goes to a volume that will be mounted over it: services are stopped, a
 * copy is made, proven, made durable and marked; then the bind mount may show it. The old content
 * stays where it is, below the mount. Marks lie on the volume, so that a fresh disk has none.
 * Owner: the arena. Errors: SYSTEM. Threads: all functions. Source: kube-up's format-disks.sh, which
 * left symbolic links instead. */
#pragma once

#include "nodeup/tasks/task.h"

/* "/mnt/disks/.nodeup/var-lib-docker": its being there says that the copy is complete. */
char *move_mark(struct arena *a, const struct task_move *m);
/* Whether something is mounted at path. */
bool move_is_mounted(const struct task_ctx *ctx, struct arena *a, const char *path);
/* Whether nothing is left to be moved. */
bool move_is_done(const struct task_ctx *ctx, struct arena *a, const struct task_move *m);
/* Whether a directory is there and has entries. */
bool move_has_content(const struct task_ctx *ctx, const char *path);
/* Remove a file that a move has left, if it is there. */
int move_remove(const struct task_ctx *ctx, const char *path, struct err *e) must_check;
