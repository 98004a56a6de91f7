/* report.h - what a run did, does and waits for: lines for people, status.json for programs
 * The only renderer of errors and outcomes. A secret never comes here: tasks keep content to
 * themselves and errors quote names, never values.
 * Owner: none. Errors: status_write only. Units: ns. Threads: the scheduler's.
 * Tests: test_report.c. */
#pragma once

#include "nodeup/base/tree.h"
#include "nodeup/run/run.h"
#include "nodeup/run/waiting.h"

/* "FAILED message (exit status)" and its notes, one log line each. */
void report_error(const struct err *e);
/* Why it would change, or how it is right; of a volume that is attached which one it is, for plan. */
const char *report_why(const struct run_outcome *o);
/* One line for a task that was settled or started to wait, and for one that will be retried if it is due.
 * A cause is told in full of the first task that it hits. */
void report_outcome(const struct run_report *rep, const struct run_outcome *o, struct waits *waits);
/* The lines that are due for what waits or works and has for ten seconds, but for what progress.h tells: one a minute for
 * tasks of a kind that are at the same. Call it often. */
void report_waiting(const struct run_report *rep, struct waits *waits);
/* "12 of 60 tasks; waiting for asset kubelet: 3 of 110 bytes from ..." */
char *report_progress(struct arena *a, const struct run_report *rep);
/* "60 tasks: 23 changed, 35 right, 2 not needed, in 2.9 s" */
char *report_summary(struct arena *a, const struct run_report *rep);
/* "ok 50 / changed 2 / failed 1", and a line for each that was changed or failed, with the reason. `late` is the
 * run's error, which is another one than a task's if no task failed; NULL: none. */
struct strv report_recap(struct arena *a, const struct run_report *rep, const struct err *late);
/* The tasks of a report, one map each: kind, name, state, why, error, times. */
struct tree *report_tree(struct arena *a, const struct run_report *rep);

/* Returns what made tasks of a report fail, one map each: cause, tasks that it hit, tasks that it kept from being done. */
struct tree *report_causes(struct arena *a, const struct run_report *rep);

/* The word of a run's documents. */
struct status_documents {
	const char *conf;
	struct tree *host; /* what this machine is; NULL: it is not known yet */
	const char *kops,
		*known_by; /* the version that rendered them, and what tells it; NULL: not known */
	const char *kept_why; /* for what reason they are the kept ones; NULL: they are not */
	const struct strv *accepted;  /* keys that are left alone; NULL: none */
	const struct strv *tolerated; /* refused values that it goes on with; NULL: none */
	const char *expiring;         /* the certificate that ends first; NULL: none */
	int64_t expiry;               /* when it does, in seconds since 1970 */
	bool renews;                  /* a run issues it anew in time; else it cannot be had anew */
};

struct status {
	const char *
		state; /* "running", "ready", "retrying", "failed", "degraded"; see interrupted.h */
	const char *version;
	const char *unit;    /* that runs us; NULL: none */
	const char *user;    /* who runs us by hand, where sudo says it; else NULL */
	const char *waiting; /* NULL: for nothing */
	int64_t since_ns,
		next_ns; /* with `waiting`, unless a task of `rep` waits; monotonic: since when, and the next try */
	const struct run_report *rep; /* NULL: no plan yet */
	bool ended;                   /* that run is over: nothing of it goes on */
	struct fetcher *fetcher;      /* of that run, or NULL */
	struct tree *assets;     /* as they were when the run before ended, till there is a rep */
	const struct err *error; /* NULL: none */
	struct status_documents documents; /* all NULL until they are read */
	int64_t next_run_wall_ns;          /* 0: none follows this one */
	int64_t started_wall_ns;
	int64_t number; /* of the process among those of this machine; 0: it is not known */
	unsigned int attempt;
	bool may_not_change; /* something is to be changed, and this host is not fit for it */
	const struct tree
		*node; /* what an earlier run said of the node, see standing.h; NULL: nothing */
};

/* Replace /run/nodeup/status.json; as interrupted_put(). */
int status_write(int root_fd, const struct status *st, struct err *e) must_check;
