/* saved_plan.h - reads a plan that `plan -o json` wrote, and checks whether it still holds
 * apply --plan=FILE does what a person has read, or nothing. Under apply's lock, before anything is done, documents
 * and machine are compared with those of the plan.
 * Invariant: the file decides only whether apply goes on; the tasks come from the documents.
 * Owner: the arena. Errors: CONFIG for a file that is not such a plan, REFUSED for a plan that no longer holds.
 * Threads: one. Source: terraform's saved plans.
 * Tests: test_saved_plan.py. */
#pragma once

#include "nodeup/cmd/session.h"

/* Version of the JSON form of a plan. It grows when readers of the earlier version would misread the new form. */
#define SAVED_PLAN_SCHEMA "1"

struct saved_plan {
	const char *path, *digest;
	bool verify, prune; /* flags of the plan command that wrote the file */
	const struct tree *tasks;
};

/* Reads a saved plan from a file, or from a pipe that ends within wait_ns (0: IO_PIPE_NS). */
int saved_plan_read(struct arena *a, const char *path, int64_t wait_ns, struct saved_plan *ret,
		    struct err *e) must_check;
/* Returns the tasks as a plan lists them, each with what would be done. */
struct tree *saved_plan_tasks(struct arena *a, const struct run_report *rep);
/* Returns a hex digest of everything that documents, settings and program decide about a session's work. */
const char *saved_plan_digest(struct arena *a, const struct session *s);
/* Compares the documents with the plan's. asks_machine: also checks that each task finds the same as when the plan
 * was made. */
int saved_plan_check(const struct saved_plan *p, struct session *s, bool asks_machine,
		     struct err *e) must_check;
