/* lock.h - one apply at a time: flock on /run/nodeup/lock
 * The holder writes its pid and unit into the file, so that a second apply can name it.
 * Owner: the returned fd; closing it unlocks. Errors: BUSY with pid, unit and since when; SYSTEM.
 * Threads: one. Source: flock(2).
 * Tests: test_lock.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"

/* Takes the lock; `unit` (may be NULL) is written into it for other processes. If another process holds the lock:
 * BUSY within 50 ms, with notes from that process's status. */
int lock_take(int root_fd, const char *unit, int *ret_fd, struct err *e) must_check;
/* Fails if another process holds the lock. Neither takes the lock nor makes its file. */
int lock_look(int root_fd, struct err *e) must_check;
/* Returns a descriptor that can be read when a process releases the lock; -1: there is none. */
int lock_watch(int root_fd) must_check;
/* Returns whether another process made the last run below this root, and that run went well. */
bool lock_succeeded(int root_fd);
