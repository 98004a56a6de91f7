/* move.h - the transfers of the fetcher: one for each part, and no more than there may be
 * An answer is judged as it comes: of which object its bytes are, where they begin, how fast they come. run.c
 * decides which bytes are to move; it is called back through fetch_ops, on the net thread.
 * Owner: the fetcher. Errors: NET when the bytes are of another object or come too slowly, SYSTEM of the
 * cache. Units: bytes. Threads: the net thread.
 * Tests: test_fetch_queue.c. */
#pragma once

#include "assets/fetch/parts.h"

enum fetch_outcome {
	FETCH_CAME,      /* all or some of it: see what is missing */
	FETCH_FAILED,    /* this mirror, for now */
	FETCH_FATAL,     /* a disk's fault, and not the mirror's */
	FETCH_CHANGED,   /* the mirror has another object than the one whose bytes are here */
	FETCH_SAME,      /* this mirror has the wrong object of a former run */
	FETCH_NO_RANGES, /* ask this mirror for the whole */
};

struct fetch_ops {
	/* Something has changed, or some time has passed: look at the job. */
	void (*step)(struct fetch_job *j);
	/* Bytes have come. */
	void (*came)(struct fetch_job *j);
	/* A part has ended, and is about to be freed; *e is why, but for FETCH_CAME; `step` follows. */
	void (*ended)(struct fetch_job *j, size_t mirror, enum fetch_outcome outcome,
		      const struct http_result *res, const struct err *e);
};

/* Ask for these bytes. */
void fetch_move_start(struct fetch_job *j, const struct fetch_want *want);
/* Stop all parts of the job; they end soon. */
void fetch_move_stop(struct fetch_job *j);
/* Returns whether the job may have another connection; a job without any comes first. */
bool fetch_move_may_start(struct fetch_job *j);
