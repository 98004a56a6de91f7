/* parts.h - which bytes of an object to ask for next, and of which mirror
 * Ranges are given out in order, to mirrors that have least to do; a byte that is here or on its way is
 * not asked for. Only when nothing is left to give out, of what a part is too slow with: half, or more
 * from a mirror known to be faster.
 * Owner: values. Errors: none. Units: bytes, monotonic ns. Threads: the net thread, under the
 * fetcher's lock. */
#pragma once

#include "assets/fetch/job.h"

struct fetch_want {
	size_t mirror;
	bool ranged;
	uint64_t first, end;     /* end UINT64_MAX: all there is */
	struct fetch_part *slow; /* whose bytes these were, or NULL */
};

/* The next part of this job, if there is one that a mirror may be asked for. */
bool fetch_parts_next(struct fetch_job *j, int64_t now_ns, struct fetch_want *ret);
/* Whether every byte is here, and how many that is. */
bool fetch_parts_complete(const struct fetch_job *j, uint64_t *ret_size);
