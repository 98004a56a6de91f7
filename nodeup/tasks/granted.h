/* granted.h - what AWS has granted this instance since it started
 * Some of it cannot be asked for again, and some is seen only later: a note of it keeps a second run from asking twice.
 * Notes end with the boot. Losing one costs a request, never correctness.
 * Owner: the root's files. Errors: SYSTEM. Threads: all functions, one of each name at a time.
 * Tests: test_granted.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Returns whether what is noted under this name is this. */
bool granted_is(const struct task_ctx *ctx, const char *name, const char *what);
/* Note it. */
int granted_note(const struct task_ctx *ctx, const char *name, const char *what,
		 struct err *e) must_check;
