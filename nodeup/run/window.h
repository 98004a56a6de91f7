/* window.h - success is not "active": watch what was started stay up
 * One common window after the last start: services keep their main process and are not restarted,
 * oneshots have succeeded, everything else is active. What must answer also has to do so (host/liveness.h).
 * Owner: none. Errors: SYSTEM naming the unit, with its result and last journal lines.
 * Units: ns. Threads: the scheduler's. Source: README.md, "Success is not active".
 * Tests: test_window.c. */
#pragma once

#include "nodeup/run/run.h"

/* Called about once a second with what is being waited for. */
typedef void window_wait_fn(void *arg, const char *what);

/* Returns whether the task is of a unit that is to be up, and not only enabled or stopped. */
bool window_is_for(const struct task *t);
/* Watch the units of a finished run. Without a unit that was started just now there is no window:
 * what must answer is asked once more and that is all. Where records are not trusted (repair), a unit that
 * the run found active and that does not answer for a minute is restarted, once. */
int window_watch(const struct run_req *req, const struct run_report *rep, window_wait_fn *wait,
		 void *arg, struct err *e) must_check;
