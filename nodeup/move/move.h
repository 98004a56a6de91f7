/* move.h - what the files of this room share: whether a move is due, its copy, its marks, who is in its way
 * The content of a directory goes to a volume that will be mounted over it. Services are stopped; a copy is made
 * beside its place, proven, put there and marked; then the bind mount may show it. The old content stays where it
 * is, below the mount. If the source changed after the copy, nodeup refuses to mount over it. A mark lies on the
 * volume and says that the copy is complete: a fresh disk has none. A record on the root disk says that the
 * directory's content has been on a volume. If that volume is a fresh disk now, the content on the root disk is out
 * of date: it stays where it is, and is not moved again. Mark and record are named after the machine. So a machine
 * that boots an image of this one moves the content that the image brings along.
 * Owner: the arena. Errors: SYSTEM; REFUSED where content or a mount would be hidden; BUSY while a program uses the
 * directory, or a tool of a killed attempt is still at work. Units: bytes, ns. Threads: all functions.
 * Source: kube-up's format-disks.sh, which left symbolic links instead; cp(1), rename(2).
 * Bodies: copy_tree.c, inspect.c, marks.c, step_back.c, tree_stamp.c, users.c.
 * Tests: test_move.c, test_marks.c, test_step_back.c. */
#pragma once

#include "nodeup/tasks/task.h"

enum { MOVE_TO_DO = 0, MOVE_DONE = 1 };

/* Returns whether the mark exists. */
bool move_has_mark(const struct task_ctx *ctx, const struct task_move *m);
/* Returns MOVE_DONE if nothing is left to be moved, else MOVE_TO_DO. Fails if nothing may be mounted over the
 * directory, or if the move is sure to fail. */
int move_inspect(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		 struct err *e) must_check;
/* Checks that the target is an exact copy of the source, as left by a run that was killed before it wrote its mark.
 * Refuses any other content. */
int move_is_copied(const struct task_ctx *ctx, const struct task_move *m, struct err *e) must_check;
/* Returns whether the content was moved once, to a disk that is now empty or gone. */
bool move_is_of_long_ago(const struct task_ctx *ctx, const struct task_move *m);
/* Returns whether a directory exists and has entries. */
bool move_has_content(const struct task_ctx *ctx, const char *path);

/* Make `aside`, a directory of nodeup's own, a proven and durable copy of `source`, without other file systems
 * mounted in it. First removes what a killed attempt left in `aside`. */
int copy_tree(int root_fd, const char *source, const char *aside, struct err *e) must_check;
/* Makes the parents of `target`, and renames `aside` to `target` in one step. Fails unless `target` is missing or an
 * empty directory. */
int copy_tree_place(int root_fd, const char *aside, const char *target, struct err *e) must_check;

/* Tells whether a directory was written to after the stamp was taken. */
struct tree_stamp {
	uint64_t files, bytes;
	int64_t newest_ns; /* by ctime: a copy may keep all other times */
	/* the least space that a copy takes; not part of the stamp */
	uint64_t disk_bytes, inodes;
};

/* Stamps all regular files and links in a directory below the root. Leaves out other file systems that are mounted
 * in it. A file that is removed meanwhile is not counted. */
int tree_stamp_at(int root_fd, const char *path, struct tree_stamp *ret, struct err *e) must_check;
bool tree_stamp_eq(const struct tree_stamp *a, const struct tree_stamp *b);
/* Returns "files 12 bytes 345 newest 1700000000000000000". */
char *tree_stamp_text(struct arena *a, const struct tree_stamp *s);

/* The name of nodeup's own directory on a volume. */
#define MOVE_MARK_NAME ".nodeup"

/* Returns the path of a moved directory's record, in a folder of ours: "DIR/var-lib-docker". */
char *move_record(struct arena *a, const char *dir, const struct task_move *m);
/* Returns nodeup's directory on the volume: "/mnt/disks/.nodeup". */
char *move_mark_dir(struct arena *a, const struct task_move *m);
/* Returns "/mnt/disks/.nodeup/var-lib-docker@i-0abc". If this file exists, the copy is complete. */
char *move_mark(struct arena *a, const struct task_move *m);
/* Returns "/mnt/disks/.nodeup/var-lib-docker@i-0abc.copy", nodeup's directory in which the copy is made. */
char *move_staging(struct arena *a, const struct task_move *m);
/* Returns whether the source holds exactly the files that were moved before. */
bool move_is_recorded(const struct task_ctx *ctx, const struct task_move *m,
		      const struct tree_stamp *now);
/* Returns whether the volume has the mark of a move that has no record here. */
bool move_is_forgotten(const struct task_ctx *ctx, const struct task_move *m);
/* Copies the mark's text into the record on the root disk. */
int move_remember(const struct task_ctx *ctx, const struct task_move *m, struct err *e) must_check;

/* A mount unit asserts the mark of a complete copy, and services that require it never start on the bare directory.
 * If only that directory has content, which was not moved, a file on the root disk tells the mount unit to step back,
 * so that a node that worked goes on. The file is written only when nothing is on the volume, and removed before a
 * copy begins. Returns whether the file exists. */
bool step_back_is_on(const struct task_ctx *ctx, const struct task_move *m);
/* Returns whether only the source has the content: the mounted volume lacks it. */
bool step_back_is_due(const struct task_ctx *ctx, const struct task_move *m);
/* step_back_put writes the file, step_back_remove removes it if it exists; both durably. */
int step_back_put(const struct task_ctx *ctx, const struct task_move *m, struct err *e) must_check;
int step_back_remove(const struct task_ctx *ctx, const struct task_move *m,
		     struct err *e) must_check;

/* Gives stopped services some time to close their files: 0 if no process uses the source, TASK_WAIT while one does.
 * A process that does not let go is remembered until the next boot: services are stopped for it once, and not again
 * while it lives. */
int move_users_wait(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		    struct task_run *run, struct err *e) must_check;
/* Like move_users_wait, but waits only for the remembered process, before any service is stopped. */
int move_users_wait_again(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
			  struct task_run *run, struct err *e) must_check;
