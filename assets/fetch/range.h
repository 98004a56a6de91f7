/* range.h - a part of an object: what to ask for, and whether the answer is that
 * If-Range is for a mirror that has said what it calls the object. Each has marks of its own for the
 * same object; what all have to agree about is its size. A server that ignores all this answers with
 * the whole.
 * Owner: values. Errors: none. Units: bytes. Threads: all functions. Source: RFC 9110, 13 and 14.
 * Tests: fetch/test_ranges.c, test_resume.c. */
#pragma once

#include "assets/cache/entry.h"
#include "assets/http/http.h"

enum range_answer {
	RANGE_WHOLE,    /* from the first byte */
	RANGE_REST,     /* the bytes that were asked for */
	RANGE_COMPLETE, /* there is no more */
	RANGE_CHANGED,  /* of something else */
	RANGE_REFUSED   /* it knows ranges, and these are of no use: ask for the whole */
};

/* The request. */
struct range_asked {
	const char *url;
	bool ranged;         /* from `first` on, else the whole */
	uint64_t first, end; /* UINT64_MAX: to the end */
};

/* Returns this mirror's names of the object, or NULL. */
const struct cache_mark *range_mark_of(const struct cache_origin *o, const char *url);
/* Returns whether bytes of this origin can be continued by a mirror at all. */
bool range_can_resume(const struct cache_origin *o, const char *url);
/* Add the headers that ask for it. */
void range_ask(const struct cache_origin *o, const struct range_asked *asked, struct arena *a,
	       struct strv *headers);
/* Judge an answer to that. ret_o is what the object is known to be now, but for RANGE_CHANGED and
 * RANGE_REFUSED. */
enum range_answer range_judge(const struct cache_origin *o, const struct range_asked *asked,
			      const struct http_result *res, struct cache_origin *ret_o);
