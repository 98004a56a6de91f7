/* move.h - the fetcher's transfers, one for each part, within the limits
 * Judges an answer as it comes: to which object its bytes belong, where they begin, how fast they come. run.c
 * decides which bytes move, and is called back through fetch_ops on the net thread.
 * Owner: the fetcher. Errors: NET when the bytes are of another object or come too slowly, SYSTEM of the cache.
 * Units: bytes. Threads: the net thread.
 * Tests: test_fetch_queue.c. */
#pragma once

#include "assets/fetch/parts.h"

enum fetch_outcome {
	FETCH_CAME,    /* all or some of the bytes came; the entry shows which bytes are missing */
	FETCH_FAILED,  /* this mirror failed, but may be asked again later */
	FETCH_FATAL,   /* the disk failed, not the mirror */
	FETCH_CHANGED, /* the mirror has another object than the one whose bytes are stored */
	FETCH_SAME,    /* the mirror still has the wrong object of an earlier run */
	FETCH_NO_RANGES, /* this mirror must be asked for the whole object */
};

struct fetch_ops {
	/* Looks at the job again, because something changed or some time has passed. */
	void (*step)(struct fetch_job *j);
	/* Called when bytes came. */
	void (*came)(struct fetch_job *j);
	/* A part has ended and will be freed; *e is the reason, except with FETCH_CAME. `step` follows. */
	void (*ended)(struct fetch_job *j, size_t mirror, enum fetch_outcome outcome,
		      const struct http_result *res, const struct err *e);
};

/* Asks for the bytes of `want`. */
void fetch_move_start(struct fetch_job *j, const struct fetch_want *want);
/* Stops all parts of the job; they end soon. */
void fetch_move_stop(struct fetch_job *j);
/* Returns whether the job may have another connection. Jobs without a connection go first. */
bool fetch_move_may_start(struct fetch_job *j);
