/* saved_plan.h - a plan that was written by `plan -o json`, and whether it is still the plan of now
 * apply --plan=FILE does what a person has read, or nothing: documents and machine are compared with
 * what they were, under apply's lock and before anything is done.
 * Invariant: what the file says decides only whether apply goes on; what is done comes from documents.
 * Owner: the arena. Errors: CONFIG for a file that is not such a plan, REFUSED for one that is not of
 * now. Threads: one. Source: terraform's saved plans.
 * Tests: test_saved_plan.py. */
#pragma once

#include "nodeup/cmd/session.h"

/* The version of a plan as JSON. It grows when a reader of the one before would misread it. */
#define SAVED_PLAN_SCHEMA "1"

struct saved_plan {
	const char *path, *digest;
	bool verify, prune; /* made by a plan with these flags */
	const struct tree *tasks;
};

/* Read such a file, or a pipe that comes to its end within wait_ns (0: IO_PIPE_NS). */
int saved_plan_read(struct arena *a, const char *path, int64_t wait_ns, struct saved_plan *ret,
		    struct err *e) must_check;
/* The tasks as a plan lists them: the state of each is what would be done. */
struct tree *saved_plan_tasks(struct arena *a, const struct run_report *rep);
/* Returns what a session would do, as far as the documents, the settings and the program decide it: hex. */
const char *saved_plan_digest(struct arena *a, const struct session *s);
/* Compare the documents with those of the plan, and, if the machine is asked, look whether each task would
 * find there what it found then. */
int saved_plan_check(const struct saved_plan *p, struct session *s, bool asks_machine,
		     struct err *e) must_check;
