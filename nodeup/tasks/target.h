/* target.h - prepares the place where a task writes a file or a link, and finds its owner
 * Invariant: a directory in the way keeps its content: it is set aside, see aside.h; only an empty directory is
 * removed.
 * Bodies: user.c.
 * Owner: the caller has the descriptor or the stage. Errors: SYSTEM. Threads: any. Source: passwd(5).
 * Tests: test_tasks.c, test_user.c, test_foreign.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Makes a directory, and those above it, as flush_mkdirs does. New ones get the labels of the policy. */
int target_mkdirs(struct task_ctx *ctx, const char *path, mode_t mode, struct err *e) must_check;
/* Opens the directory of a path, which it makes if needed, and clears the path. */
int target_open(struct task_ctx *ctx, const char *path, int *ret_dir, const char **ret_name,
		struct err *e) must_check;
/* Stages a file in the directory of a path, as target_open opens it. */
int target_stage(struct task_ctx *ctx, const char *path, struct io_stage *s,
		 struct err *e) must_check;
/* Copies all bytes of a file into the stage's file, in the kernel if it can; `path` is for messages. */
int target_copy(int from, int to, const char *path, struct err *e) must_check;
/* Gives the ids of a file's owner, by the name that this root's passwd knows; NULL is root. -ENOENT: there is no
 * such user. */
int target_owner(struct task_ctx *ctx, const char *name, uid_t *ret_uid, gid_t *ret_gid,
		 struct err *e) must_check;
