/* granted.h - notes about what AWS granted this instance since it started
 * Some grants cannot be asked for twice, and some show only after a while. So a note keeps the next run from asking
 * again. A note lasts until the next boot. A lost note costs a request, never correctness.
 * Owner: the root's files. Errors: SYSTEM. Threads: all functions, one of each name at a time.
 * Tests: test_granted.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Returns whether the note `name` has the text `what`. */
bool granted_is(const struct task_ctx *ctx, const char *name, const char *what);
/* Writes the note. */
int granted_note(const struct task_ctx *ctx, const char *name, const char *what,
		 struct err *e) must_check;
