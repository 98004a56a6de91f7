/* parts.h - chooses the next bytes to ask for, and their mirror
 * Hands ranges out in order, each to the mirror with the least to do. Never asks for a byte that is here or on its
 * way, with one exception. When no byte is left to hand out, another mirror helps a slow part: it is asked for half
 * of the part's bytes, or for more if it is known to be faster. README.md has a picture.
 * Owner: values. Errors: none. Units: bytes, monotonic ns. Threads: the net thread, under the fetcher's lock.
 * Tests: test_fetch_parts.c. */
#pragma once

#include "assets/fetch/job.h"
#include "assets/fetch/range.h"

/* One transfer; the net thread's own. */
struct fetch_part {
	struct fetch_part *next;
	struct fetch_job *job;
	size_t mirror;
	uint64_t http_id;
	uint64_t pos, end; /* pos: the next byte. end: of the wanted bytes, or UINT64_MAX */
	bool same;         /* the answer is an earlier run's wrong object, and is not read */
	bool ranged; /* true: asked for the bytes from `pos` on; false: for the whole object */
	bool hedge;  /* brings bytes for which another part is too slow */
	bool headed; /* the answer has begun, and is: */
	enum range_answer answer;
	bool enough; /* all wanted bytes have come, or no byte is wanted any more */
	int64_t began_ns;
	uint64_t came;
	struct fetch_pace pace;
	struct err err; /* why the answer is refused */
};

struct fetch_want {
	size_t mirror;
	bool ranged;
	uint64_t first, end;     /* end UINT64_MAX: to the object's end */
	struct fetch_part *slow; /* the part that these bytes were taken from, or NULL */
};

/* Chooses the next part of this job. False: no mirror may be asked for another part. */
bool fetch_parts_next(struct fetch_job *j, int64_t now_ns, struct fetch_want *ret);
/* Returns whether every byte has arrived; *ret_size is their number. */
bool fetch_parts_complete(const struct fetch_job *j, uint64_t *ret_size);
