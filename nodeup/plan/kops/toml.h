/* toml.h - a TOML document made of a tree
 * Tables are maps, values are scalars: quoted ones are strings, plain ones integers and booleans. The text is what kops
 * writes for the same values, to the byte: values before tables, both sorted, two blanks for each level.
 * Owner: the arena. Errors: none. Threads: all functions. Source: kops 1.37 pkg/tomlwriter.
 * Tests: test_kops_containerd.c. */
#pragma once

#include "nodeup/base/tree.h"

/* Set the value at a path of keys below a table, and make the tables on the way. As in kops, a value that stands in the
 * way of a table is passed over, and a value takes the place of a table. */
void toml_set(struct arena *a, struct tree *table, const struct strv *path, struct tree *value);
/* The text of a document. */
const char *toml_text(struct arena *a, const struct tree *document);
/* A text as a string of TOML, with its quotes. */
const char *toml_string(struct arena *a, const char *text);
