/* wait.h - the pause before another try, the wait for a moment, and what is told of it
 * Owner: none. Errors: none. Units: nanoseconds of the monotonic clock. Threads: all functions.
 * Source: "Exponential Backoff And Jitter" (full jitter).
 * Tests: test_wait.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/err.h"

/* One that goes on. */
struct wait {
	const char *what, *reason;
	const struct err *why;     /* whose notes are told as well, or NULL */
	int64_t since_ns, next_ns; /* next_ns 0: this try goes on */
	unsigned int attempt;      /* 0: it has none */
	bool expected;             /* a notice, not a warning */
	bool works;                /* for what this machine does itself */
	bool named;                /* by `what`, wherever it is met */
};

/* Told of each try that failed, before the next, and of one that has no answer yet. */
typedef void wait_fn(void *arg, const struct wait *w);

/* A number between 0 and 1, by chance. */
double wait_chance(void);
/* Returns the pause after that many tries, from 1 on: any time up to 0.2 s, which doubles to 5 s. Many
 * nodes that failed together do not come back together. */
int64_t wait_delay(unsigned int attempt);
/* Tell fn (NULL: nothing) of a try that failed with `last`. */
void wait_tell(wait_fn *fn, void *arg, const char *what, int64_t since_ns, unsigned int attempt,
	       const struct err *last, int64_t next_ns);
/* The silence of a server after which it is told. */
#define WAIT_SILENCE_NS DUR_SEC
/* Tells fn (NULL: nothing) of a try that has no answer yet, or one that has begun and does not end; who: whom it asks. */
void wait_tell_silence(wait_fn *fn, void *arg, const char *what, const char *who, bool has_begun,
		       int64_t since_ns, unsigned int attempt);
/* For how long to try again (< 0: for ever), and who is told before each pause. */
struct wait_patience {
	int64_t ns;
	wait_fn *fn;
	void *arg;
};

/* Pause after a try that failed with `last`, the first of which began at since_ns; false, at once: patience is over. */
bool wait_again(const struct wait_patience *p, const char *what, int64_t since_ns,
		unsigned int attempt, const struct err *last);
/* Sleep until dur_now() is this. */
void wait_until(int64_t due_ns);
