/* field_value.h - one value of a document, as the rows of a field table take it
 * What the walkers over documents share; see field.h.
 * Owner: the arena. Errors: none; a result is one. Threads: all functions.
 * Tests: test_field.c. */
#pragma once

#include "nodeup/base/field.h"

/* A row of a map that is read, with what the map has of it. */
struct field_seen {
	const struct field *field;
	const struct tree *value, *map; /* value NULL: it is not there */
	const char *path;               /* "kubelet.maxPods" */
	bool secret;
};

/* The row of a key: spelled the same, else the same but for case; s->n: there is none. */
size_t field_row(const struct schema *s, const char *key);
/* "path.key", or the key alone at the top. */
const char *field_path(struct arena *a, const char *path, const char *key);
/* A scalar or null as a string. A number stays as it is written (1.10 is not 1.1); a boolean word becomes Go's. */
const char *field_text(const struct tree *t);
/* The integer that a tree is. -EINVAL: it is none; -ERANGE: it has more than 64 bits. */
int field_integer(const struct tree *t, int64_t *ret);
/* Names a value for the second half of "expected ..., found ...": its text where it is quotable and one line. */
const char *field_found(struct arena *a, const struct tree *t, bool quotable);
/* Returns whether it is null, an empty text, or an empty list or map. */
bool field_says_nothing(const struct tree *t);
/* Returns " (since Kubernetes 1.8) (until Kubernetes 1.9)", or one of them; "": all versions. */
const char *field_versions(struct arena *a, unsigned int since, unsigned int until);
