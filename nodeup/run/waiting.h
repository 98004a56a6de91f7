/* waiting.h - how a wait is told of: with few words, and never in silence
 * A line when the reason changes, and the same again once a minute. On a terminal there is also one that
 * is redrawn in place, with since when and the next try.
 * Invariant: what was said of a wait in the last minute is not said again, though other reasons came in
 * between. Reasons that differ only in amounts of time or bytes, or in the time of day, are the same.
 * Owner: waits_new/waits_free; freeing clears the terminal. Errors: none. Units: monotonic ns.
 * Threads: one at a time. Source: -.
 * Tests: test_waiting.c. */
#pragma once

#include "nodeup/base/wait.h"

struct waits;

/* Looks at stderr, as footer.h. */
struct waits *waits_new(void) must_check;
/* Release, and leave nothing on the terminal; NULL is fine. */
void waits_free(struct waits *w);
/* Returns whether two reasons differ in nothing but amounts. */
bool waits_is_same(const char *reason, const char *other);
/* Returns whether a line is due, which then counts as said. */
bool waits_due(struct waits *w, const char *what, const char *reason, int64_t now_ns);
/* Tell of a wait that goes on; call it at each attempt. */
void waits_tell(struct waits *w, const struct wait *wait);
/* The line in place alone, where there is one: for what has a line of its own in the log. */
void waits_show(struct waits *w, const struct wait *wait);
/* End a wait: the line in place goes, and the next wait is told of at once. */
void waits_over(struct waits *w);
