/* drift.h - what the guard saw last, and whether it may look now
 * The guard looks every few minutes whether the node is as its last run left it (cmd/guard.c). While a run is at work
 * or has just ended, and while a person holds it, nothing that it sees would mean anything.
 * Owner: the arena. Errors: SYSTEM. Units: ns, by the clock. Threads: one.
 * Tests: test_drift.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/err.h"
#include "nodeup/base/str.h"

struct drift {
	int64_t at_ns; /* when it looked; 0: not since the machine started */
	size_t n;      /* how many objects differed */
	/* units that persons had stopped, each with the time, as they were told */
	struct strv stopped;
};

/* Reads the record of the last look. A missing or damaged one counts as none. */
void drift_last(struct arena *a, int root_fd, struct drift *ret);
/* Records a look. */
int drift_keep(int root_fd, const struct drift *d, struct err *e) must_check;
/* Holds the guard until then. */
int drift_hold(int root_fd, int64_t until_ns, struct err *e) must_check;
/* Returns until when the guard is held; 0: it is not held. */
int64_t drift_held_until(int root_fd);
/* Returns why the guard must not look now; NULL: it may. */
const char *drift_hindrance(struct arena *a, int root_fd);
