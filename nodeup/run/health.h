/* health.h - the status as readers see it: the state of the node, and the last run
 * The process that wrote status.json knew less than its reader needs: whether that process still lives, whether
 * another try can mend the failure, and what earlier runs said about the node (standing.h).
 * Owner: the arena. Errors: SYSTEM, CONFIG for a status that cannot be read. Units: ns. Threads: one.
 * Tests: test_health.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/str.h"
#include "nodeup/base/tree.h"

/* The numbers are the exit statuses of `nodeup status`. */
enum health_state {
	HEALTH_READY,
	HEALTH_FAILED,
	HEALTH_DEGRADED,
	HEALTH_RUNNING,
	HEALTH_NEVER,
	HEALTH_MAX
};

struct health {
	enum health_state state;   /* state of the node */
	const struct tree *status; /* the last status written; NULL if the state is NEVER */
	const struct tree *word;   /* the status that judges the node; NULL if the state is NEVER */
	bool kept;                 /* the last run left the node as an earlier run described it */
	bool at_work;              /* a run is working, not sleeping between two tries */
	int pid;                   /* process of the run that works or sleeps; 0: none */
	bool died;                 /* the run's process ended without a final status */
	bool stays;                /* the run failed, and no retry can mend that */
	const char *why;           /* why the node is degraded; otherwise NULL */
	/* a remark on static pods while the state is ready, or NULL; see pods.h */
	const char *pods;
	struct strv unasked; /* programs that were not asked whether they answer: "UNIT: WHY" */
	const char *remedy;  /* advice, if only one thing helps; otherwise NULL */
	int64_t expires_ns; /* end of the certificate that ends first, by the clock; 0: not known */
};

/* Reads the status below the root. A missing status is no error. */
int health_read(struct arena *a, int root_fd, struct health *ret, struct err *e) must_check;
/* Checks a node that is ready: systemd has its units up, and each program with a socket answers (liveness.h). On a
 * worker, kubelet must not have logged within a minute that its API server refuses it or cannot be reached. If a
 * check fails, the node is degraded. A unit about which systemd does not answer is not judged. */
void health_ask_units(struct arena *a, int root_fd, struct health *t);
/* Takes the error of a run, without its notes. False: the run has none. */
bool health_error(const struct tree *run, struct err *ret);
/* Returns the state's name: "ready" and so on. */
const char *health_name(enum health_state state);
/* Returns a number of the status; `otherwise` if it is missing. */
int64_t health_number(const struct tree *status, const char *key, int64_t otherwise);
/* Returns when a run ended, or with `began` when it began, by its status. -1: not known. */
int64_t health_end(const struct tree *run, bool began);
/* Returns since when the node is in its state. -1: not known. */
int64_t health_since(const struct health *t);
/* Returns the day and time at which a run began. */
const char *health_date(struct arena *a, const struct tree *run);
/* Returns a time of the status, in milliseconds since 1970; -1: it is missing. */
int64_t health_moment(const struct tree *status, const char *key);
