/* dialects.h - the table of dialects: every format of documents that nodeup reads, and what else people hand to --conf
 * Bodies: kinds.c.
 * Owner: static tables; results are the arena's. Errors: as the dialect. Threads: all functions.
 * Tests: test_dialects.c, test_kinds.c. */
#pragma once

#include "nodeup/config/dialect.h"

/* The rows, NULL-terminated. A document is of the one whose keys it has. */
extern const struct dialect *const dialects[];
/* The n-th program of theirs; NULL: there are no more. */
const struct dialect_program *dialects_program(size_t n);

/* Reads the document of --conf in its dialect. Errors: another kind, a kops that is not spoken, keys of two dialects. */
int dialects_read(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		  struct documents *ret, struct err *e) must_check;
/* Know it by `cluster` as well, which was read since: both have to be of one kops, which is spoken. */
int dialects_check_cluster(struct arena *a, const struct dialect_opts *o, struct documents *d,
			   struct err *e) must_check;
/* The place at which is_there says there is a document, or NULL; two such places are an error. */
int dialects_find(bool (*is_there)(const char *path), const char **ret, struct err *e) must_check;

/* Parse the document of --conf, as yaml_parse; an error where its bytes or its first document are of another kind. */
int kinds_parse(struct arena *a, const char *file, const char *text, size_t n, struct tree **ret,
		struct err *e) must_check;
/* Returns whether it may be a dialect's: an error names the kind that it is. */
int kinds_check(struct arena *a, const struct tree *t, struct err *e) must_check;
/* Adds to e, why user data brought no document, the agent that they are for, if that is known. Returns e's code. */
int kinds_explain(const char *file, const char *text, struct err *e) must_check;
