/* parts.h - which bytes of an object to ask for next, and of which mirror
 * Ranges are given out in order, to mirrors that have least to do. A byte that is here or on its way is not
 * asked for. Only when nothing is left to give out, another mirror helps a part that is too slow: with half
 * of its bytes, or with more when it is known to be faster. README.md has a picture.
 * Owner: values. Errors: none. Units: bytes, monotonic ns. Threads: the net thread, under the
 * fetcher's lock.
 * Tests: test_fetch_parts.c. */
#pragma once

#include "assets/fetch/job.h"
#include "assets/fetch/range.h"

/* One transfer. The net thread's. */
struct fetch_part {
	struct fetch_part *next;
	struct fetch_job *job;
	size_t mirror;
	uint64_t http_id;
	uint64_t pos,
		end; /* the byte that comes next; the first that is not wanted, or UINT64_MAX */
	bool same;   /* the answer is the wrong object of a former run: nothing of it is taken */
	bool ranged; /* `pos` was asked for, else the whole */
	bool hedge;  /* its bytes are those that another part is too slow with */
	bool headed; /* the answer has begun, and is this: */
	enum range_answer answer;
	bool enough; /* all that is wanted has come, or nothing is wanted any more */
	int64_t began_ns;
	uint64_t came;
	struct fetch_pace pace;
	struct err err; /* why the answer is not taken */
};

struct fetch_want {
	size_t mirror;
	bool ranged;
	uint64_t first, end;     /* end UINT64_MAX: all there is */
	struct fetch_part *slow; /* whose bytes these were, or NULL */
};

/* The next part of this job, if there is one that a mirror may be asked for. */
bool fetch_parts_next(struct fetch_job *j, int64_t now_ns, struct fetch_want *ret);
/* Returns whether every byte is here, and how many that is. */
bool fetch_parts_complete(const struct fetch_job *j, uint64_t *ret_size);
