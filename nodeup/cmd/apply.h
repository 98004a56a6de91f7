/* apply.h - the state of an apply, private to its four files
 * apply.c runs. apply_status.c reports: status.json, console, message of the day, history, metrics. apply_copy.c
 * copies the status to S3, for people who watch many nodes, and nodes that they cannot log in to. apply_signals.c
 * tells services.
 * Invariant: only a run on a live machine has a status (live_fd). No failed report fails a run.
 * Owner: apply(). Errors: none. Units: ns, monotonic. Threads: one.
 * Tests: test_rerun.py, test_interrupt.py, test_status.py, test_apply_signals.c, test_told_outside.py. */
#pragma once

#include "nodeup/cmd/cli.h"
#include "nodeup/cmd/rounds.h"
#include "nodeup/cmd/session.h"
#include "nodeup/run/progress.h"
#include "nodeup/run/report.h"

/* The command, through all its runs. */
struct apply {
	const struct saved_plan *plan; /* the plan of --plan */
	struct cli *cli;
	struct session session;
	int live_fd;          /* root of the machine with the status; -1: none */
	int lock_fd;          /* -1: not held */
	const char *identity; /* instance that an earlier process noted; "": none */
	bool kubelet_ran;     /* before this process */
	struct status status;
	struct progress *progress; /* progress of the present run, or NULL */
	struct waits *waits;
	struct arena *before; /* arena of the run before; NULL: none */
	struct arena *word;   /* arena of status.node */
	struct round_end end; /* what decides on a further run; kept from the run's beginning on */
	struct join_keys *keys; /* keys that an earlier run began and did not use */
	size_t changed;         /* changed tasks in all runs */
	int64_t begun_ns, next_status_ns;
	int64_t patience_ns; /* patience of the present run with servers of documents */
	int64_t volumes_ns;  /* how long the run waits for volumes; 0: without limit */
	int silence_told; /* the worst reported failure to write the status; 1: it is not in /run; below 0: it is
			   * nowhere */
	bool console_told; /* the console was told of a failed run */
	bool age_told;     /* the console was told of a run's age */
	bool kept_told; /* a person was told that kept documents can replace those of a silent store */
	bool refused; /* the present run may not change this machine */
};

/* Writes to the status that a run begins. */
void apply_begin_status(struct apply *ap);
/* Puts the documents' facts into the status, and warns if these are kept documents. */
void apply_note_documents(struct apply *ap);
/* Reports the end of a run and what follows: status, console, message of the day, history, metrics, S3. */
void apply_end_status(struct apply *ap, const char *state, enum round next, const struct err *e);
/* Copies the status to S3 if the settings say so. */
void apply_copy_status(const struct apply *ap);
/* Tells services of the first success, or of a run that failed for good, as the settings say. */
void apply_tell_outside(const struct apply *ap, enum round next);
/* Sets the message of the day for the first run after a start: until a run ends well, this is no node yet. */
void apply_tell_beginning(const struct apply *ap);
/* Prints a summary of what was found and done; after a repair, with the reasons. */
void apply_tell_recap(const struct apply *ap, const struct run_report *rep, const struct err *late);

/* Callbacks whose argument is a struct apply: for waits outside of tasks, for waits for documents, for events of a
 * run, and for the run's window. */
void apply_on_wait(void *arg, const struct wait *w);
void apply_on_store_wait(void *arg, const struct wait *w);
void apply_on_event(void *arg, const struct run_report *rep, const struct run_outcome *o);
void apply_on_window(void *arg, const char *what);
