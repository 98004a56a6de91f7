/* report.h - words a run's results, work and waits: lines for people, status.json for programs
 * No other code renders errors and outcomes. No secret comes here: tasks keep contents to themselves, and errors
 * quote names, never values.
 * Owner: none. Errors: status_write only. Units: ns. Threads: the scheduler's.
 * Tests: test_report.c. */
#pragma once

#include "nodeup/base/tree.h"
#include "nodeup/run/run.h"
#include "nodeup/run/waiting.h"

/* Logs "FAILED message (exit status)" and its notes, one line each. */
void report_error(const struct err *e);
/* For plan: returns why the task would change its object, or in what way the object is right; for an attached
 * volume, which volume it is. */
const char *report_why(const struct run_outcome *o);
/* Logs a line for a task that was settled or began to wait. If a line is due, logs one for a task that will be
 * retried too. A cause is told in full with the first task that it hits. */
void report_outcome(const struct run_report *rep, const struct run_outcome *o, struct waits *waits);
/* Logs the lines that are due for tasks that have waited or worked for ten seconds, except those of progress.h.
 * Tasks of a kind in the same state share one line a minute. Call it often. */
void report_waiting(const struct run_report *rep, struct waits *waits);
/* Words the progress: "12 of 60 tasks; waiting for asset kubelet: 3 of 110 bytes from ..." */
char *report_progress(struct arena *a, const struct run_report *rep);
/* Words the result: "60 tasks: 23 changed, 35 right, 2 not needed, in 2.9 s" */
char *report_summary(struct arena *a, const struct run_report *rep);
/* Returns "ok 50 / changed 2 / failed 1", and a line with the reason for each changed or failed task. late: the
 * run's error, which is no task's error if no task failed; NULL: none. */
struct strv report_recap(struct arena *a, const struct run_report *rep, const struct err *late);
/* Returns the tasks of a report, one map each: kind, name, state, why, error, times. */
struct tree *report_tree(struct arena *a, const struct run_report *rep);

/* Returns the causes of failures, one map each: cause, tasks that it hit, tasks that it held up. */
struct tree *report_causes(struct arena *a, const struct run_report *rep);

/* The facts of a run's documents. */
struct status_documents {
	const char *conf;
	struct tree *host; /* what this machine is; NULL: not known yet */
	const char *kops,
		*known_by; /* the kops version that wrote the documents, and how it is known; NULL: not known */
	const char *kept_why;  /* why kept documents are used; NULL: none are used */
	const char *guess_why; /* why this boot keeps a guess of the kops; NULL: it keeps none */
	/* why the node is to have its instance store, and has not; NULL: it has, or is not to have it */
	const char *lacks_store;
	const struct strv *accepted;  /* accepted unknown keys; NULL: none */
	const struct strv *tolerated; /* refused values with which the run goes on; NULL: none */
	const char *expiring;         /* the certificate that ends first; NULL: none */
	int64_t expiry;               /* end of the certificate `expiring`, in seconds since 1970 */
	bool renews; /* true: a run renews the certificate in time; false: it cannot be renewed */
};

struct status {
	const char *
		state; /* "running", "ready", "retrying", "failed", "degraded"; see interrupted.h */
	const char *version;
	const char *unit;    /* the unit that runs us; NULL: none */
	const char *user;    /* the person who runs us, if sudo tells; else NULL */
	const char *metrics; /* the folder of the metrics; NULL: none */
	const char *waiting; /* what the run waits for; NULL: nothing */
	int64_t since_ns,
		next_ns; /* begin and next try of the wait in `waiting`, monotonic; not used if a task of `rep` waits */
	const struct run_report *rep; /* NULL: no plan yet */
	bool ended;                   /* the run of `rep` is over */
	struct fetcher *fetcher;      /* the fetcher of the run of `rep`, or NULL */
	struct tree *assets; /* assets at the end of the run before; used until there is a `rep` */
	const struct err *error;           /* NULL: none */
	struct status_documents documents; /* all members are NULL until the documents are read */
	int64_t next_run_wall_ns;          /* 0: no run follows */
	int64_t started_wall_ns;
	int64_t number; /* number of the process among this machine's runs; 0: not known */
	unsigned int attempt;
	bool may_not_change;     /* a change is needed, but this host is not fit for it */
	const struct tree *node; /* what an earlier run said of the node, see standing.h; or NULL */
};

/* Replaces /run/nodeup/status.json, as interrupted_put() does. */
int status_write(int root_fd, const struct status *st, struct err *e) must_check;
