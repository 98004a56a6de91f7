/* dialects.h - the table of dialects: every format of documents that nodeup reads, and what else people hand to --conf
 * Bodies: kinds.c.
 * Owner: static tables; results are the arena's. Errors: as the dialect. Threads: all functions.
 * Tests: test_dialects.c, test_kinds.c. */
#pragma once

#include "nodeup/config/dialect.h"

/* The rows; NULL ends them. The keys of a document tell its dialect. */
extern const struct dialect *const dialects[];
/* Returns the n-th program of all dialects; NULL: there are no more. */
const struct dialect_program *dialects_program(size_t n);

/* Reads the document of --conf in its dialect. Fails for another kind of document, an unsupported kops, and keys of
 * two dialects. */
int dialects_read(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		  struct documents *ret, struct err *e) must_check;
/* Finds the kops again, also by `cluster`, which has been read meanwhile. Fails unless both documents are of one
 * supported kops. */
int dialects_check_cluster(struct arena *a, const struct dialect_opts *o, struct documents *d,
			   struct err *e) must_check;
/* Finds the place where a document is, by is_there; NULL: at none. If two places have one, that is an error. */
int dialects_find(bool (*is_there)(const char *path), const char **ret, struct err *e) must_check;

/* Parses the document of --conf, as yaml_parse does. Fails if its bytes or its first document are of another kind. */
int kinds_parse(struct arena *a, const char *file, const char *text, size_t n, struct tree **ret,
		struct err *e) must_check;
/* Fails, and names the kind, unless a dialect may read it. */
int kinds_check(struct arena *a, const struct tree *t, struct err *e) must_check;
/* For user data without a document. Adds the agent that they are for to e, if it is known. Returns e's code. */
int kinds_explain(const char *file, const char *text, struct err *e) must_check;
