/* marks.h - the marks of a move on its volume, and what the root disk remembers of it
 * A mark says that the copy on the volume is complete. The root disk remembers that the content of a directory has been on a volume: where the volume is a fresh disk since, that
 * content is of long ago and is not moved again, but stays where it is. Both are named after the machine,
 * so that an image made of it moves what it brings along.
 * Owner: none. Errors: SYSTEM. Threads: all functions.
 * Tests: test_marks.c. */
#pragma once

#include "nodeup/tasks/task.h"
#include "nodeup/move/tree_stamp.h"

/* "DIR/var-lib-docker": what a folder of ours has on record of the directory that is moved. */
char *move_record(struct arena *a, const char *dir, const struct task_move *m);
/* The directory of nodeup's own on a volume. */
#define MOVE_MARK_NAME ".nodeup"

/* Returns our directory on the volume: "/mnt/disks/.nodeup". */
char *move_mark_dir(struct arena *a, const struct task_move *m);
/* "/mnt/disks/.nodeup/var-lib-docker@i-0abc": its being there says that the copy is complete. */
char *move_mark(struct arena *a, const struct task_move *m);
/* "/mnt/disks/.nodeup/var-lib-docker@i-0abc.copy", where it is made: a directory of nodeup's own. */
char *move_staging(struct arena *a, const struct task_move *m);
/* Returns whether what the source holds now is what was moved before, to the last file. */
bool move_is_recorded(const struct task_ctx *ctx, const struct task_move *m,
		      const struct tree_stamp *now);
/* Returns whether the mark of a move is on the volume that nothing here remembers. */
bool move_is_forgotten(const struct task_ctx *ctx, const struct task_move *m);
/* Remember what the mark on the volume says. */
int move_remember(const struct task_ctx *ctx, const struct task_move *m, struct err *e) must_check;
