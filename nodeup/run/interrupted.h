/* interrupted.h - status.json as the last word of a process that a signal ends
 * The status names its process in a way that no other process can take over: pid, start time and boot.
 * What was said last stays, with another state: the threads that know more may be anywhere by then.
 * Owner: the arenas given. Errors: SYSTEM. Threads: one at a time; see ending_hold().
 * Source: proc(5), field 22 of /proc/PID/stat.
 * Tests: test_health.c. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/base/tree.h"

/* Set which process says it: "pid", "pidStartTicks" and "bootId". */
void interrupted_identify(struct arena *a, int root_fd, struct tree *map);
/* The process that a status names; 0: it has ended. */
int interrupted_live_pid(struct arena *a, int root_fd, const struct tree *status);
/* Replace /run/nodeup/status.json. While /run is full it is OWN_STATUS_SPARE, and the other is not there: returns 1 then, and e
 * says what is full. */
int interrupted_put(int root_fd, const struct buf *text, struct err *e) must_check;
/* Read what was put last in this boot, and say where that is, also after an error; -ENOENT: nothing was. */
int interrupted_get(int root_fd, struct buf *text, const char **ret_path, struct err *e) must_check;
/* If the status is this process' own, its state becomes "interrupted", by this signal ("TERM"), and
 * `waiting` (NULL: nothing) is what it waits for until it ends. */
int interrupted_note(int root_fd, const char *signal, const char *waiting,
		     struct err *e) must_check;
