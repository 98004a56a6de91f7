/* rounds.h - whether a run of apply is followed by another, and by which
 * Most applies are one run. What was lost on its way to the disk has a run of its own. After an error that may
 * pass there is a pause, and all is done again.
 * Invariant: without a pause there are at most two runs, so that this ends without a deadline.
 * Owner: none. Errors: none. Units: ns, monotonic. Threads: all functions.
 * Tests: test_rounds.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/err.h"

enum round {
	ROUND_NONE,  /* none */
	ROUND_FIRST, /* all; after a pause, unless it is the first */
	ROUND_ANEW,  /* install what was lost on its way to the disk */
};

/* The end of a run that failed. */
struct round_end {
	enum round round;
	bool files_lost;                       /* it did all, but the fsync of some files failed */
	int64_t retries;                       /* that are left; below 0: no limit */
	int64_t now_ns, pause_ns, deadline_ns; /* deadline 0: none */
};

/* Returns whether a run that failed with e was refused, by a document or by this host, its clock too, after which a node may go on as it
 * was. Not so by data on a disk or wrong bytes. begun: something may have been changed. */
bool round_is_refused(bool begun, const struct err *e);
/* The run that follows one that failed with e. */
enum round round_after(const struct round_end *end, const struct err *e);
