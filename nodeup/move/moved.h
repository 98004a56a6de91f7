/* moved.h - what the root disk remembers of a move
 * That the content of a directory has been on a volume: where the volume is a fresh disk since, that
 * content is of long ago and is not moved again, but stays where it is. Called after the machine,
 * so that an image made of it moves what it brings along.
 * Owner: none. Errors: SYSTEM. Threads: all functions. */
#pragma once

#include "nodeup/tasks/task.h"
#include "nodeup/move/tree_stamp.h"

/* Whether what the source holds now is what was moved before, to the last file. */
bool moved_before(const struct task_ctx *ctx, const struct task_move *m,
		  const struct tree_stamp *now);
/* Whether the mark of a move is on the volume that nothing here remembers. */
bool moved_is_forgotten(const struct task_ctx *ctx, const struct task_move *m);
/* Remember what the mark on the volume says. */
int moved_remember(const struct task_ctx *ctx, const struct task_move *m, struct err *e) must_check;
