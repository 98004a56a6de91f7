/* status.h - the node's status as people and programs get it
 * Owner: the arena. Errors: as health.h. Threads: one.
 * Tests: test_status_command.py, test_collect_logs.py. */
#pragma once

#include "nodeup/cmd/cli.h"
#include "nodeup/run/health.h"

/* Reads the status, and asks what runs. */
int status_read(struct arena *a, int root_fd, struct health *ret, struct err *e) must_check;
/* Appends the status as text; full: with every task. */
int status_text(struct arena *a, int root_fd, const struct health *t, bool full, struct buf *b,
		struct err *e) must_check;
/* Returns everything that the run wrote, with the state that readers see. */
struct tree *status_tree(struct arena *a, const struct health *t);
