/* started.h - with which inputs a unit was started: /run/nodeup/started/UNIT
 * `pending DIGEST US` is written before the job, `done DIGEST US` after it, so that a kill between
 * writing a file and restarting its service heals at the next run. US tells whether the process that
 * runs now is the one meant: when the job was asked for, or when the process started. /run is empty
 * after a boot, as are the processes.
 * Owner: values. Errors: SYSTEM. Units: us, monotonic, as systemd's. Threads: the scheduler's. */
#pragma once

#include "assets/digest.h"

enum started_state { STARTED_UNKNOWN, STARTED_PENDING, STARTED_DONE };

struct started {
	enum started_state state;
	uint64_t us;
	struct digest inputs;
};

/* What the record says; UNKNOWN if there is none or it cannot be read. */
struct started started_get(int root_fd, const char *unit);
/* Write it. */
int started_set(int root_fd, const char *unit, const struct started *s, struct err *e) must_check;
