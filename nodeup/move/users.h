/* users.h - which process keeps a directory from being moved
 * Stopped services get some time to let go. A process that did not is remembered until the next boot, so
 * that services are stopped for it once, and not again while it is still there.
 * Owner: the arena. Errors: SYSTEM; BUSY when the patience is at its end. Threads: all functions.
 * Tests: test_step_back.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* 0 when no process uses the source, TASK_WAIT while one does. */
int move_users_wait(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		    struct task_run *run, struct err *e) must_check;
/* The same for the one only that did not let go before, services being as they are. */
int move_users_wait_again(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
			  struct task_run *run, struct err *e) must_check;
