/* kinds.h - what else people hand to --conf, called by its name
 * Cluster specs, templates, other agents' documents, archives: one table of the signs by which each is known. None of them
 * is a sign of what a dialect reads.
 * Owner: the arena. Errors: CONFIG, one line. Threads: all functions.
 * Tests: test_kinds.c. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/tree.h"

/* Parse the document of --conf, as yaml_parse; an error where its bytes or its first document are of another kind. */
int kinds_parse(struct arena *a, const char *file, const char *text, size_t n, struct tree **ret,
		struct err *e) must_check;
/* Returns whether it may be a dialect's: an error names the kind that it is. */
int kinds_check(struct arena *a, const struct tree *t, struct err *e) must_check;
/* Adds to e, why user data brought no document, the agent that they are for, if that is known. Returns e's code. */
int kinds_explain(const char *file, const char *text, struct err *e) must_check;
