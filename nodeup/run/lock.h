/* lock.h - one apply at a time: flock on /run/nodeup/lock
 * The holder writes its pid and unit into the file, so that a second apply can name it.
 * Owner: the returned fd; closing it unlocks. Errors: BUSY with pid, unit and since when; SYSTEM.
 * Threads: one. Source: flock(2). */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"

/* Take the lock; `unit` (may be NULL) is written for others. Held elsewhere: BUSY at once. */
int lock_take(int root_fd, const char *unit, int *ret_fd, struct err *e) must_check;
