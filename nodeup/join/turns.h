/* turns.h - which of several servers is asked when
 * One after the other without a pause, then a pause for all: any time up to a second, which doubles to 30. A server
 * that answered is asked again first. Thousands of nodes that begin together do not come back together.
 * Invariant: pure; neither a clock nor a source of chance is in it. Owner: the caller's storage. Errors: none.
 * Units: nanoseconds. Threads: one. Source: "Exponential Backoff And Jitter" (full jitter).
 * Tests: test_storm.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct join_turns {
	size_t n, at;       /* servers, and the one whose turn it is */
	size_t asked;       /* of this round */
	unsigned int round; /* that are over without an answer */
};

/* An answer came: the next question begins with this server, and without a pause. */
void join_turns_answered(struct join_turns *t);
/* Takes the next server, and gives the pause before it. chance: between 0 and 1; wanted_ns: the pause that the last wants, or 0. */
int64_t join_turns_next(struct join_turns *t, double chance, int64_t wanted_ns);
