/* last_good.h - what the last run that ended well had started, for a boot whose run is refused
 * kubelet.service has no [Install] in most dialects: our unit alone starts it. So a document that is wrong, or that this
 * nodeup newly refuses, must not take down a node that works. What is started is what lies on the disk, as it lies there,
 * and nothing is written for it. Units that need a mount which is not there do not start: their own text sees to that.
 * Invariant: what is known was kept on this very instance; an image of a live node starts nothing.
 * Owner: the session's arena. Errors: SYSTEM. Units: ns. Threads: the scheduler's.
 * Tests: test_last_good.c. */
#pragma once

#include "nodeup/cmd/session.h"
#include "nodeup/run/window.h"

/* Remember what a run that ended well has started, or found started. */
int last_good_keep(const struct session *s, struct err *e) must_check;

struct last_good_req {
	int64_t patience_ns; /* for the metadata service, which says which instance this is */
	int64_t deadline_ns; /* 0: none */
	bool no_metadata;    /* it is not asked */
	wait_fn *on_wait;
	run_watch_fn *watch;
	window_wait_fn *on_window;
	void *arg; /* of the three */
};

/* Start what is not up of it, and watch it as a run does. The session's run was refused with *e, which gets a note on what
 * came of this; the session may be open or not. Whether the node goes on as it was. */
bool last_good_start(struct session *s, const struct last_good_req *req, struct err *e);
