/* field_value.h - one value of a document, as rows of a field table read it
 * Shared by the walkers over documents; see field.h.
 * Owner: the arena. Errors: none. Threads: all functions.
 * Tests: test_field.c. */
#pragma once

#include "nodeup/base/field.h"

/* A row of a map that is being read, and the map's value for it. */
struct field_seen {
	const struct field *field;
	const struct tree *value, *map; /* value NULL: the key is missing */
	const char *path;               /* "kubelet.maxPods" */
	bool secret;
};

/* Returns the row of a key: the row whose key has the same spelling; if there is none, the row whose key differs
 * only by case. s->n: no row. */
size_t field_row(const struct schema *s, const char *key);
/* Returns "path.key"; at the top only the key. */
const char *field_path(struct arena *a, const char *path, const char *key);
/* Returns a scalar or null as a string. A number stays as written (1.10 is not 1.1). A YAML word for true or false
 * becomes "true" or "false". */
const char *field_text(const struct tree *t);
/* Reads a tree as an integer. -EINVAL: the tree is not an integer; -ERANGE: the integer has more than 64 bits. */
int field_integer(const struct tree *t, int64_t *ret);
/* Describes a value for the end of "expected ..., found ...". Shows its text if the text may be quoted and is one
 * line. */
const char *field_found(struct arena *a, const struct tree *t, bool quotable);
/* Returns whether the value is null, an empty text, or an empty list or map. */
bool field_says_nothing(const struct tree *t);
/* Returns " (since Kubernetes 1.8) (until Kubernetes 1.9)", or one of the two; "": all versions. */
const char *field_versions(struct arena *a, unsigned int since, unsigned int until);
