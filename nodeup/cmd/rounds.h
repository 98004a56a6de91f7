/* rounds.h - decides whether another run of apply follows, and of which kind
 * Most applies are one run. Files whose writes were lost get another run at once. After an error that may pass there
 * is a pause, and then a whole new run.
 * Invariant: without a pause there are at most two runs, so apply ends even without a deadline.
 * Owner: none. Errors: none. Units: ns, monotonic. Threads: all functions.
 * Tests: test_rounds.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/err.h"

enum round {
	ROUND_NONE,  /* no run */
	ROUND_FIRST, /* a whole run; after a pause, unless it is the first */
	ROUND_ANEW,  /* a run at once, which installs files whose writes were lost */
};

/* The end of a run that failed. */
struct round_end {
	enum round round;
	bool files_lost; /* the run did everything, but the fsync of some files failed */
	int64_t retries; /* retries left; below 0: no limit */
	int64_t now_ns, pause_ns, deadline_ns; /* deadline 0: none */
};

/* Returns whether a document, this host or its clock refused the run that failed with e, so that the node may go on
 * as before. Data on a disk and wrong bytes do not count. begun: something may have been changed. */
bool round_is_refused(bool begun, const struct err *e);
/* Returns which run follows a run that failed with e. */
enum round round_after(const struct round_end *end, const struct err *e);
