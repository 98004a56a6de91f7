/* waiting.h - reports waits: with few words, and never in silence
 * A wait gets a line when its reason changes, and the same line again once a minute. A terminal also has a line that
 * is redrawn in place, with the begin of the wait and the next try.
 * Invariant: a line of the last minute is not repeated, even if the wait had other reasons in between. Reasons that
 * differ only in amounts of time or bytes, or in the time of day, are the same.
 * Owner: waits_new/waits_free; freeing clears the terminal. Errors: none. Units: monotonic ns. Threads: one at a
 * time. Source: -.
 * Tests: test_waiting.c. */
#pragma once

#include "nodeup/base/wait.h"

struct waits;

/* Makes a reporter of waits, and looks at stderr as footer.h does. */
struct waits *waits_new(void) must_check;
/* Releases the reporter, and leaves nothing on the terminal; NULL is fine. */
void waits_free(struct waits *w);
/* Returns whether two reasons differ in nothing but amounts. */
bool waits_is_same(const char *reason, const char *other);
/* Returns whether a line is due. If so, the line counts as printed. */
bool waits_due(struct waits *w, const char *what, const char *reason, int64_t now_ns);
/* Reports a wait that goes on; call it at each attempt. */
void waits_tell(struct waits *w, const struct wait *wait);
/* Shows only the line in place, if the terminal has one. For waits that the log reports by a line already. */
void waits_show(struct waits *w, const struct wait *wait);
/* Ends a wait: removes the line in place. The next wait is reported at once. */
void waits_over(struct waits *w);
