/* wait.h - pauses before another try, sleeps until a time, and reports of waits
 * Owner: none. Errors: none. Units: nanoseconds of the monotonic clock. Threads: all functions.
 * Source: "Exponential Backoff And Jitter" (full jitter).
 * Tests: test_wait.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/err.h"

/* A wait under way, for a report. */
struct wait {
	const char *what, *reason;
	const struct err *why;     /* an error whose notes are reported too, or NULL */
	int64_t since_ns, next_ns; /* next_ns 0: this try is still going on */
	unsigned int attempt;      /* number of the try; 0: tries are not numbered */
	bool expected;             /* reported as a notice, not as a warning */
	bool works;                /* this machine itself is working, for instance it makes keys */
	bool named;                /* waits with the same name count as one, wherever they happen */
};

/* Called for each failed try before the next one begins, and for a try that has no answer yet. */
typedef void wait_fn(void *arg, const struct wait *w);

/* Returns a random number between 0 and 1. */
double wait_chance(void);
/* Returns the pause after so many tries (1 or more). The pause is random, of at most 0.2 s after the first try; the
 * limit doubles with each try, up to 5 s. So nodes that failed together do not try again together. */
int64_t wait_delay(unsigned int attempt);
/* Reports a try that failed with `last` to fn (NULL: to nobody). */
void wait_tell(wait_fn *fn, void *arg, const char *what, int64_t since_ns, unsigned int attempt,
	       const struct err *last, int64_t next_ns);
/* The time that a server may be silent before a report. */
#define WAIT_SILENCE_NS DUR_SEC
/* Reports to fn (NULL: to nobody) that a try has no answer so far. With has_begun, reports that its answer has begun
 * but does not end. who: the server. */
void wait_tell_silence(wait_fn *fn, void *arg, const char *what, const char *who, bool has_begun,
		       int64_t since_ns, unsigned int attempt);
/* How long to try again (< 0: for ever), and the function to call before each pause. */
struct wait_patience {
	int64_t ns;
	wait_fn *fn;
	void *arg;
};

/* Pauses after a try that failed with `last`; the first try began at since_ns. Returns false at once if patience is
 * over. */
bool wait_again(const struct wait_patience *p, const char *what, int64_t since_ns,
		unsigned int attempt, const struct err *last);
/* Sleeps until dur_now() is due_ns. */
void wait_until(int64_t due_ns);
