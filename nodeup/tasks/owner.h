/* owner.h - the ids of a file's owner, by the name that this root's passwd knows
 * Owner: none. Errors: SYSTEM; -ENOENT where there is no such user. Threads: all functions.
 * Source: passwd(5).
 * Tests: test_foreign.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Ids of a user; NULL is root. */
int owner_find(struct task_ctx *ctx, const char *name, uid_t *ret_uid, gid_t *ret_gid,
	       struct err *e) must_check;
