/* spans.h - the bytes of a file that are present: sorted, disjoint spans, merged where they touch
 * Owner: the caller's storage, released by spans_done. Errors: none. Units: bytes; `end` is the first byte after a
 * span. Threads: one user at a time.
 * Tests: test_unpack.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct span {
	uint64_t first, end;
};

struct spans {
	struct span *v;
	size_t n, max;
	uint64_t sum; /* bytes in all */
};

/* Adds a span, parts of which may be present already. */
void spans_add(struct spans *s, uint64_t first, uint64_t end);
/* Return the first missing byte at or after `from`, and the first present one (UINT64_MAX: none). */
uint64_t spans_missing(const struct spans *s, uint64_t from);
uint64_t spans_present(const struct spans *s, uint64_t from);
/* Releases the spans' storage; s is empty afterwards. */
void spans_done(struct spans *s);
