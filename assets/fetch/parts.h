/* parts.h - chooses the next bytes to ask for, and their mirror
 * Hands ranges out in order, each to the mirror with the least to do. Never asks for a byte that has arrived or is
 * under way, with one exception: when no byte is left to hand out, another mirror helps a slow part. The helper is
 * asked for half of the slow part's bytes, or for more if it is known to be faster. README.md has a picture.
 * Owner: values. Errors: none. Units: bytes, monotonic ns. Threads: the net thread, under the fetcher's lock.
 * Tests: test_fetch_parts.c. */
#pragma once

#include "assets/fetch/job.h"
#include "assets/fetch/range.h"

/* One transfer, which belongs to the net thread. */
struct fetch_part {
	struct fetch_part *next;
	struct fetch_job *job;
	size_t mirror;
	uint64_t http_id;
	uint64_t pos, end; /* the next byte; the end of the wanted bytes, or UINT64_MAX */
	bool same;         /* the answer has the wrong object of an earlier run, and is not read */
	bool ranged; /* true: the request asks for the bytes from `pos` on; false: for the whole object */
	bool hedge;  /* the part brings bytes for which another part is too slow */
	bool headed; /* the answer has begun, and `answer` judges it */
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
	uint64_t first, end;     /* end: UINT64_MAX means the object's end */
	struct fetch_part *slow; /* the part that these bytes were taken from, or NULL */
};

/* Chooses the next part of this job. False: no mirror may be asked for another part. */
bool fetch_parts_next(struct fetch_job *j, int64_t now_ns, struct fetch_want *ret);
/* Returns whether every byte has arrived; *ret_size is their number. */
bool fetch_parts_complete(const struct fetch_job *j, uint64_t *ret_size);
