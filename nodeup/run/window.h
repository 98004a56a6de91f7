/* window.h - success is not "active": watches whether the started units stay up
 * One common window follows the last start. In this window services must keep their main process and not be
 * restarted, oneshots must have succeeded, and all other units must be active. A unit that must answer also has to
 * do so (host/liveness.h).
 * Owner: none. Errors: SYSTEM naming the unit, with its result and last journal lines. Units: ns. Threads: the
 * scheduler's. Source: README.md, "Success is not active".
 * Tests: test_window.c. */
#pragma once

#include "nodeup/run/run.h"

/* Called about once a second with the object that is waited for. */
typedef void window_wait_fn(void *arg, const char *what);

/* Returns whether the task is about a unit that must be up: not one that is only enabled, or stopped. */
bool window_is_for(const struct task *t);
/* Watches the units of a finished run. If no unit was started just now, there is no window: each unit that must
 * answer is asked once. In a run that trusts no records (repair), a unit that was active before and does not answer
 * for a minute is restarted, once. */
int window_watch(const struct run_req *req, const struct run_report *rep, window_wait_fn *wait,
		 void *arg, struct err *e) must_check;
