/* spans.h - which bytes of a file are here: sorted, disjoint, merged where they touch
 * Owner: the caller's storage, released by spans_done. Errors: none. Units: bytes; `end` is the first
 * that is not in. Threads: one user at a time.
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

/* Add a span, any part of which may be there already. */
void spans_add(struct spans *s, uint64_t first, uint64_t end);
/* The first byte from `from` on that is not here, and the first that is (UINT64_MAX: none). */
uint64_t spans_missing(const struct spans *s, uint64_t from);
uint64_t spans_present(const struct spans *s, uint64_t from);
/* Release; empty again. */
void spans_done(struct spans *s);
