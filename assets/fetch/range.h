/* range.h - requests for a part of an object, and judges their answers
 * If-Range is sent only to a mirror that has identified the object. Each mirror identifies the same object in its
 * own way; only the size must be the same for all mirrors. A server without ranges answers with the whole object.
 * Owner: values. Errors: none. Units: bytes. Threads: all functions. Source: RFC 9110, 13 and 14.
 * Tests: fetch/test_ranges.c, test_resume.c. */
#pragma once

#include "assets/cache/entry.h"
#include "assets/http/http.h"

enum range_answer {
	RANGE_WHOLE,    /* the whole object, from the first byte */
	RANGE_REST,     /* the bytes that were asked for */
	RANGE_COMPLETE, /* there are no more bytes */
	RANGE_CHANGED,  /* the bytes belong to another object */
	RANGE_REFUSED /* the server knows ranges, but its answers are useless: ask for the whole */
};

/* A request. */
struct range_asked {
	const char *url;
	bool ranged;         /* true: the bytes from `first` on; false: the whole object */
	uint64_t first, end; /* UINT64_MAX: to the end */
};

/* Returns this mirror's identification of the object, or NULL. */
const struct cache_mark *range_mark_of(const struct cache_origin *o, const char *url);
/* Returns whether a mirror can continue bytes of this origin at all. */
bool range_can_resume(const struct cache_origin *o, const char *url);
/* Adds the headers of the request. */
void range_ask(const struct cache_origin *o, const struct range_asked *asked, struct arena *a,
	       struct strv *headers);
/* Judges the answer. *ret_o is the object, with what the answer tells of it; not set with RANGE_CHANGED and
 * RANGE_REFUSED. */
enum range_answer range_judge(const struct cache_origin *o, const struct range_asked *asked,
			      const struct http_result *res, struct cache_origin *ret_o);
