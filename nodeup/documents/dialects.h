/* dialects.h - the table of dialects: every format of documents that nodeup reads
 * Owner: static tables; results are the arena's. Errors: as the dialect. Threads: all functions. */
#pragma once

#include "nodeup/config/dialect.h"

/* Of what gzip makes of it, in bytes. */
enum { DIALECTS_DOCUMENT_MAX = 4 << 20 };

/* The rows, NULL-terminated. A document is of the one whose keys it has. */
extern const struct dialect *const dialects[];

/* Have the document itself where text is the user data that brings it: plain or gzip, and in a script. Of
 * a script's document the lines keep their numbers. Any other text stays as it is. */
int dialects_unwrap(struct arena *a, const char *file, const char **text, size_t *n,
		    struct err *e) must_check;
/* Read the document of --conf in its dialect. Keys of two dialects are an error. */
int dialects_read(struct arena *a, const struct tree *conf, const struct dialect_opts *o,
		  struct documents *ret, struct err *e) must_check;
/* The place at which is_there says there is a document, or NULL; two such places are an error. */
int dialects_find(bool (*is_there)(const char *path), const char **ret, struct err *e) must_check;
