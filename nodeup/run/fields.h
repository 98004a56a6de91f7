/* fields.h - the fields that a line about a task has in the journal
 * nodeup.8 promises them: TASK, KIND, STATE, ORIGIN, and ASSET, DURATION_MS, CHANGED where they apply.
 * Owner: the arena. Errors: none. Units: ms. Threads: the scheduler's.
 * Tests: test_report.c. */
#pragma once

#include "nodeup/base/log.h"
#include "nodeup/run/run.h"

enum { FIELDS_MAX = 7 };

/* Fills the fields of a task, and returns how many there are. */
size_t fields_of(struct arena *a, const struct run_outcome *o,
		 struct log_field fields[static FIELDS_MAX]);
