/* dialects.h - the table of dialects: every format of documents that nodeup reads
 * Owner: static tables; results are the arena's. Errors: as the dialect. Threads: all functions. */
#pragma once

#include "nodeup/config/dialect.h"

/* The rows, NULL-terminated; the first that recognises a document reads it. */
extern const struct dialect *const dialects[];

/* Read the document of --conf in its dialect. */
int dialects_read(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		  struct documents *ret, struct err *e) must_check;
/* The first place of any dialect at which is_there says there is a document, or NULL. */
const char *dialects_find(bool (*is_there)(const char *path));
