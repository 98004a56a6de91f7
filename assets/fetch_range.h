/* fetch_range.h - the rest of an object: what to ask for, and whether the answer is that
 * If-Range is for the mirror that sent the first part. Another one has marks of its own for the same
 * object: there the total size has to agree. A server that ignores all this answers with the whole.
 * Owner: values. Errors: none. Units: bytes. Threads: all functions. Source: RFC 9110, 13 and 14. */
#pragma once

#include "assets/cache_entry.h"
#include "assets/http.h"

enum range_answer {
	RANGE_WHOLE,    /* from the first byte: what is here is of no use */
	RANGE_REST,     /* go on */
	RANGE_COMPLETE, /* there is no more */
	RANGE_CHANGED   /* of something else: ask for the whole */
};

/* Whether bytes of this origin can be continued by a mirror at all. */
bool range_can_resume(const struct cache_origin *o, const char *url);
/* Add the headers that ask for what follows `have` bytes. */
void range_ask(const struct cache_origin *o, const char *url, uint64_t have, struct arena *a,
	       struct strv *headers);
/* Judge an answer of the mirror `url` to that (have 0: nothing was asked). ret_o is what the object
 * is now, but for RANGE_CHANGED. */
enum range_answer range_judge(const struct cache_origin *o, const char *url, uint64_t have,
			      const struct http_result *res, struct cache_origin *ret_o);
