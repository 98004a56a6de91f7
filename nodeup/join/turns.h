/* turns.h - the order and the pauses in which several servers are asked
 * All servers are asked one after the other without a pause; then comes one random pause. The limit of the pause is
 * a second at first, and doubles up to 30 seconds. The server that answered last is asked first. The random pauses
 * keep thousands of nodes that begin together from coming back together.
 * Invariant: pure; uses neither a clock nor a random source. Owner: the caller's storage. Errors: none. Units:
 * nanoseconds. Threads: one.
 * Source: "Exponential Backoff And Jitter" (full jitter).
 * Tests: test_storm.c. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct join_turns {
	size_t n, at;       /* number of servers, and the next one to ask */
	size_t asked;       /* servers asked in this round */
	unsigned int round; /* rounds without an answer */
};

/* Notes an answer: the next question begins with this server, without a pause. */
void join_turns_answered(struct join_turns *t);
/* Takes the next server, and gives the pause before it. chance: between 0 and 1; wanted_ns: the pause that the last
 * server asked for, or 0. */
int64_t join_turns_next(struct join_turns *t, double chance, int64_t wanted_ns);
