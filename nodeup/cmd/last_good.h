/* last_good.h - starts what the last good run had started, at a boot whose run is refused
 * kubelet.service has no [Install] in most dialects: only our unit starts it. So a wrong document, or one that this
 * nodeup newly refuses, must not take down a node that works. The units start with the files that are on the disk,
 * and nothing is written. A unit that needs a missing mount does not start, since its own unit file says so.
 * Invariant: the record is of this very instance; an image of a live node starts nothing.
 * Owner: the session's arena. Errors: SYSTEM. Units: ns. Threads: the scheduler's.
 * Tests: test_last_good.c. */
#pragma once

#include "nodeup/cmd/session.h"
#include "nodeup/run/window.h"

/* Records the units that a good run has started, or found started. */
int last_good_keep(const struct session *s, struct err *e) must_check;

/* Returns whether a run ended well on this instance, or on one that was not known. */
bool last_good_is_of(struct arena *a, int root_fd, const char *instance);

struct last_good_req {
	int64_t patience_ns; /* patience with the metadata service, which knows the instance */
	int64_t deadline_ns; /* 0: none */
	bool no_metadata;    /* does not ask the metadata service */
	wait_fn *on_wait;
	run_watch_fn *watch;
	window_wait_fn *on_window;
	void *arg; /* argument of the three callbacks */
};

/* Starts the recorded units that are not up, and watches them as a run does. The session's run was refused with *e,
 * which gets a note on the result; the session may be open or not. Returns whether the node goes on as before. */
bool last_good_start(struct session *s, const struct last_good_req *req, struct err *e);
