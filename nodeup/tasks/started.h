/* started.h - with which inputs a unit was started: /run/nodeup/started/UNIT
 * `pending DIGEST` is written before the job, `done DIGEST PID` after it, so that a kill between
 * writing a file and restarting its service heals at the next run. /run is empty after a boot, as
 * are the processes.
 * Owner: values. Errors: SYSTEM. Threads: the scheduler's. */
#pragma once

#include "assets/digest.h"

enum started_state { STARTED_UNKNOWN, STARTED_PENDING, STARTED_DONE };

/* What the record says; UNKNOWN if there is none or it cannot be read. */
enum started_state started_get(int root_fd, const char *unit, struct digest *ret_inputs);
/* Write it. */
int started_set(int root_fd, const char *unit, enum started_state state,
		const struct digest *inputs, struct err *e) must_check;
