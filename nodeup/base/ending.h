/* ending.h - a signal ends the process in order
 * TERM, INT and HUP are blocked in every thread, and one thread of ours waits for them. It closes the
 * gate: no section of ending_hold() begins any more, and no child is started. It says so, ends the children
 * that may be cut off, waits for those that may not, says so again, and the process dies of the signal. A
 * second signal ends it at once, and leaves such a child to itself. A signal that was ignored at the
 * start stays ignored. All else is left as a kill would leave it, which a later run goes on from.
 * Owner: one state for the process, as its signals are. Errors: none. Threads: all functions.
 * Source: sigwaitinfo(2); credentials(7) for process groups.
 * Tests: test_interrupt.py. */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct ending_event {
	int sig;
	bool last;         /* the process ends now */
	const char *child; /* what is waited for first; NULL: no child */
};

/* Called by the thread that waits for signals, at the beginning and at the end of the end. */
typedef void ending_fn(void *arg, const struct ending_event *ev);

/* A child under way; the caller's, and in the same place until ending_reap(). */
struct ending_child {
	pid_t pid; /* also of its process group */
	const char *name;
	bool let_end; /* what it does must come to its end */
	struct ending_child *next;
};

/* Block the signals and start the thread. Before any other thread. */
void ending_begin(ending_fn *fn, void *arg);
/* Have another function told from now on. */
void ending_tell(ending_fn *fn, void *arg);
/* The code between the two is done before the end begins; afterwards the first one never returns. */
void ending_hold(void);
void ending_release(void);
/* Both: a point where the process may come to its end. */
void ending_gate(void);
/* The child was started, within a hold. */
void ending_add(struct ending_child *c);
/* The child has ended and is about to be reaped. Does not return once the end has begun. */
void ending_reap(struct ending_child *c);
/* "TERM" */
const char *ending_signal_name(int sig);
