/* answer.h - what a mirror answers to a part, as it comes: whose bytes, from where on, how fast
 * Owner: the fetcher. Errors: NET when the bytes are of another object or come too slowly, SYSTEM of the
 * cache. Units: bytes. Threads: the net thread, by or after a transfer of the part. */
#pragma once

#include "assets/fetch/job.h"

enum fetch_outcome {
	FETCH_CAME,      /* all or some of it: look what is missing */
	FETCH_FAILED,    /* this mirror, for now */
	FETCH_FATAL,     /* not the mirror's fault: a disk */
	FETCH_CHANGED,   /* the object is another one than the bytes that are here are of */
	FETCH_SAME,      /* this mirror has the wrong object of a former run */
	FETCH_NO_RANGES, /* ask this mirror for the whole */
};

/* As the callbacks of a transfer. */
void fetch_answer_head(struct fetch_part *p, const struct http_result *res);
int fetch_answer_data(struct fetch_part *p, const void *bytes, size_t n, struct err *e);
/* What the end of a transfer says; *ret_e is why, but for FETCH_CAME. */
enum fetch_outcome fetch_answer_done(struct fetch_part *p, int r, const struct http_result *res,
				     const struct err *e, struct err *ret_e);
