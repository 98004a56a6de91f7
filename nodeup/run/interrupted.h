/* interrupted.h - status.json as the final status of a process that a signal ends
 * The status identifies its process by pid, start time and boot, so that no later process is taken for it. A signal
 * only changes the state in the last status: the threads that know more may be anywhere.
 * Owner: the arenas given. Errors: SYSTEM. Threads: one at a time; see ending_hold().
 * Source: proc(5), field 22 of /proc/PID/stat.
 * Tests: test_health.c. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/base/tree.h"

/* Returns the id of this boot; NULL: unknown. */
const char *interrupted_boot_id(struct arena *a, int root_fd);
/* Adds this process's identity: "pid", "pidStartTicks" and "bootId". */
void interrupted_identify(struct arena *a, int root_fd, struct tree *map);
/* Returns the process that a status names; 0: the process has ended. */
int interrupted_live_pid(struct arena *a, int root_fd, const struct tree *status);
/* Replaces /run/nodeup/status.json. If /run is full, writes OWN_STATUS_SPARE instead, removes the other file and
 * returns 1; then e says what is full. */
int interrupted_put(int root_fd, const struct buf *text, struct err *e) must_check;
/* Reads the last status of this boot. Gives the status's path even after an error; -ENOENT: there is no status. */
int interrupted_get(int root_fd, struct buf *text, const char **ret_path, struct err *e) must_check;
/* If the status is this process's own, sets its state to "interrupted" by this signal ("TERM"). waiting: what the
 * process waits for until it ends; NULL: nothing. */
int interrupted_note(int root_fd, const char *signal, const char *waiting,
		     struct err *e) must_check;
