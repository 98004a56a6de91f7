/* health.h - the status as a reader finds it: what the node is, and what became of the last run
 * status.json is the word of the process that wrote it. A reader must know more: whether that process
 * still lives, whether trying again can mend what failed, and what earlier runs said of the node (standing.h).
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
	enum health_state state;   /* of the node */
	const struct tree *status; /* what was written; NULL if the state is NEVER */
	const struct tree *word;   /* what the node is judged by; NULL if the state is NEVER */
	bool kept;       /* the last run left the node as the word of an earlier one says */
	bool at_work;    /* a run is under way, and does not sleep between two tries */
	int pid;         /* of the run that is under way or sleeps; 0: none */
	bool died;       /* its process ended without a last word */
	bool stays;      /* it failed, and no retry mends that */
	const char *why; /* it is degraded; else NULL */
	const char *
		pods; /* what is to be said of static pods though the state is ready, or NULL; see pods.h */
	struct strv unasked; /* programs that were not asked whether they answer: "UNIT: WHY" */
	const char *remedy;  /* what helps against that, where one thing alone does; else NULL */
	int64_t expires_ns; /* until then holds the certificate that ends first, by the clock; 0: not known */
};

/* Read it below the root. That there is none is no error. */
int health_read(struct arena *a, int root_fd, struct health *ret, struct err *e) must_check;
/* Ask about a node that is ready: the manager whether what the last run saw up still is, and each program that has a socket whether
 * it answers (liveness.h), and on a worker kubelet's
 * journal whether it said within a minute that its API server cannot be reached or refuses it: degraded if so. Where
 * they do not answer, nothing is added. */
void health_ask_units(struct arena *a, int root_fd, struct health *t);
/* Take the error that a run ended with, without its notes. False: it has none. */
bool health_error(const struct tree *run, struct err *ret);
/* "ready" and so on. */
const char *health_name(enum health_state state);
/* A number that a status has; `otherwise` if it has none. */
int64_t health_number(const struct tree *status, const char *key, int64_t otherwise);
/* The end of a run, by its status; began: when it began. -1: it is not known. */
int64_t health_end(const struct tree *run, bool began);
/* Since when the node is in its state. -1: it is not known. */
int64_t health_since(const struct health *t);
/* The day and time at which a run began. */
const char *health_date(struct arena *a, const struct tree *run);
/* A moment that a status has in milliseconds since 1970; -1: it has none. */
int64_t health_moment(const struct tree *status, const char *key);
