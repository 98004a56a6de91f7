/* history.h - the last runs of this machine, across its reboots
 * One file for each process that ran, named by its start, process and number, so that sorted names are in order. It
 * is status.json without the tasks that were right.
 * Invariant: after a crash of nodeup a file is whole or missing. After a power cut the record of a run that changed
 * nothing may be empty: it is not worth waiting for the disk, and readers skip it.
 * Owner: the arena. Errors: SYSTEM. Threads: one at a time; see ending_hold().
 * Tests: test_history.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/tree.h"

enum { HISTORY_MAX = 100, HISTORY_BYTES = 1 << 20 };

/* Records this process's present status.json instead of its earlier one, with times (times.h; NULL: none); changes of
 * earlier runs of the process stay listed. Beyond HISTORY_MAX it forgets one run: the oldest that changed nothing,
 * else the oldest. A run whose documents are kept (OWN_KEPT_SET) stays. Beyond HISTORY_BYTES in all it forgets the
 * times of the oldest runs. */
int history_keep(int root_fd, const struct tree *times, struct err *e) must_check;
/* Returns the highest number of a recorded run; 0: none. */
int64_t history_last(int root_fd);
/* Forgets all runs, since another machine made them. */
int history_forget(int root_fd, struct err *e) must_check;
/* Lists the recorded runs, the newest first, a map each. */
int history_list(struct arena *a, int root_fd, struct tree **ret, struct err *e) must_check;
