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
/* Finds the version of kops again, now also by `cluster`, which has been read since. Fails if the two documents are
 * of different versions, or of an unsupported one. */
int dialects_check_cluster(struct arena *a, const struct dialect_opts *o, struct documents *d,
			   struct err *e) must_check;
/* Finds the only place for which is_there() is true; NULL: there is none. Two such places are an error. */
int dialects_find(bool (*is_there)(const char *path), const char **ret, struct err *e) must_check;

/* Parses the document of --conf, as yaml_parse does. Fails if its bytes or its first document are of another kind. */
int kinds_parse(struct arena *a, const char *file, const char *text, size_t n, struct tree **ret,
		struct err *e) must_check;
/* Fails if no dialect may read the document; the error names the document's kind. */
int kinds_check(struct arena *a, const struct tree *t, struct err *e) must_check;
/* For user data without a document: if another agent can read them, adds its name to e. Returns e's code. */
int kinds_explain(const char *file, const char *text, struct err *e) must_check;
