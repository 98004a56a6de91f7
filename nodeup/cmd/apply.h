/* apply.h - the state of an apply, private to its three files
 * apply.c runs; apply_status.c says what comes of it: status.json, console, message of the day, history; apply_copy.c
 * copies the status to S3, for those that look at many nodes, and at one that they cannot log in to.
 * Invariant: only a run on a live machine has a status (live_fd). No failed report fails a run.
 * Owner: apply(). Errors: none. Units: ns, monotonic. Threads: one.
 * Tests: test_rerun.py, test_interrupt.py, test_status.py. */
#pragma once

#include "nodeup/cmd/cli.h"
#include "nodeup/cmd/rounds.h"
#include "nodeup/cmd/session.h"
#include "nodeup/run/progress.h"
#include "nodeup/run/report.h"

/* The command under way, through all its runs. */
struct apply {
	const struct saved_plan *plan; /* of --plan */
	struct cli *cli;
	struct session session;
	int live_fd; /* the root of this machine, whose status it is; -1: none */
	int lock_fd; /* -1: not held */
	struct status status;
	struct progress *progress; /* of the run under way, or NULL */
	struct waits *waits;
	struct arena *before;   /* what is kept of the run before; NULL: nothing */
	struct arena *word;     /* has status.node */
	struct round_end end;   /* of the run under way, from its beginning on */
	struct join_keys *keys; /* begun by a run that came to none of them */
	size_t changed;         /* tasks, in all runs */
	int64_t begun_ns, next_status_ns;
	int64_t patience_ns; /* of the run under way, with servers that have documents */
	int64_t volumes_ns;  /* how long volumes are waited for; 0: as long as there is time */
	int silence_told; /* the worst that was said of its status: 1 not in /run, below 0 nowhere */
	bool console_told; /* of a failed run of this process */
	bool age_told;     /* of its age, too */
	bool kept_told;    /* that documents are kept, for when the store cannot be reached */
	bool refused;      /* it may not change this machine */
};

/* Tell in the status that a run begins. */
void apply_begin_status(struct apply *ap);
/* Note in the status what the documents say, and warn when these are kept ones. */
void apply_note_documents(struct apply *ap);
/* Tell that a run is over, and what follows: status, console, message of the day, history, S3. */
void apply_end_status(struct apply *ap, const char *state, enum round next, const struct err *e);
/* Copy the status to S3, if the settings say so. */
void apply_copy_status(const struct apply *ap);
/* Tell logins of the first run since the machine started: until it ends well, the node is not one yet. */
void apply_tell_beginning(const struct apply *ap);
/* Print what was found and done, at the end of a repair with the reasons. */
void apply_tell_recap(const struct apply *ap, const struct run_report *rep, const struct err *late);

/* Callbacks, with a struct apply: all waits for what is outside but for tasks', that for documents, what a run does,
 * and its window. */
void apply_on_wait(void *arg, const struct wait *w);
void apply_on_store_wait(void *arg, const struct wait *w);
void apply_on_event(void *arg, const struct run_report *rep, const struct run_outcome *o);
void apply_on_window(void *arg, const char *what);
