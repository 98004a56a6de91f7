/* history.h - the last runs of this machine, over its reboots
 * A file a process that ran, named by its beginning: sorted names are their order. It is made of status.json,
 * without the tasks that were right.
 * Invariant: a file is whole or not there after a crash of nodeup. After a power cut the record of a run that
 * changed nothing may be empty: it is not worth a wait for the disk, and readers leave it out.
 * Owner: the arena. Errors: SYSTEM. Threads: one at a time; see ending_hold().
 * Tests: test_history.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/tree.h"

enum { HISTORY_MAX = 20 };

/* Remember what status.json says of this process' run now, in the place of what it said before; what the process
 * changed before stays listed. Beyond HISTORY_MAX one run is forgotten: the oldest that changed nothing, else the oldest. A run
 * whose documents are kept (OWN_KEPT_SET) stays. */
int history_keep(int root_fd, struct err *e) must_check;
/* The highest number that a remembered run has; 0: none has one. */
int64_t history_last(int root_fd);
/* Forget all runs: they are another machine's. */
int history_forget(int root_fd, struct err *e) must_check;
/* The runs that are remembered, the newest first, a map each. */
int history_list(struct arena *a, int root_fd, struct tree **ret, struct err *e) must_check;
