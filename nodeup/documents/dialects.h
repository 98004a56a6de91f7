/* dialects.h - the table of dialects: every format of documents that nodeup reads
 * Owner: static tables; results are the arena's. Errors: as the dialect. Threads: all functions.
 * Tests: test_dialects.c. */
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
