/* ending.h - ends the process in order after a signal
 * TERM, INT and HUP are blocked in every thread, and one thread waits for them. After a signal no section of
 * ending_hold() begins any more, and no child starts. The thread reports, ends the children that may be cut off,
 * waits for the other children, and reports again. Then the process dies of the signal. A second signal ends the
 * process at once; a child that must not be cut off then goes on alone. A signal that was ignored at the start stays
 * ignored. Everything else stays as a kill would leave it, and a later run goes on from there.
 * Owner: the process, which has one such state. Errors: none. Threads: all functions.
 * Source: sigwaitinfo(2); credentials(7) for process groups.
 * Tests: test_interrupt.py. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct ending_event {
	int sig;
	bool last;         /* true: the process ends now; false: it has begun to end */
	const char *child; /* the first child that the process waits for; NULL: none */
};

/* Called by the thread that waits for signals, when the end begins and when it is complete. */
typedef void ending_fn(void *arg, const struct ending_event *ev);

/* A running child. The struct belongs to the caller, and must not move until ending_reap(). */
struct ending_child {
	pid_t pid; /* also id of its process group */
	const char *name;
	bool let_end; /* the child's work must not be cut off */
	struct ending_child *next;
};

/* Blocks the signals and starts the thread. Called before any other thread starts. */
void ending_begin(ending_fn *fn, void *arg);
/* Sets another function to call from now on. */
void ending_tell(ending_fn *fn, void *arg);
/* Code between these two calls is complete before the end begins. Once the end has begun, ending_hold() never
 * returns. */
void ending_hold(void);
void ending_release(void);
/* Calls ending_hold and ending_release: marks a point at which the process may end. */
void ending_gate(void);
/* Notes a child that was started between ending_hold and ending_release. */
void ending_add(struct ending_child *c);
/* Notes a child that has ended, before it is reaped. Does not return once the end has begun. */
void ending_reap(struct ending_child *c);
/* Returns "TERM" for SIGTERM. */
const char *ending_signal_name(int sig);
