/* toml.h - a TOML document made of a tree
 * Tables are maps. Values are scalars: a quoted one is a string, a plain one an integer or a boolean. The text
 * equals that of kops for the same values, byte for byte: values come before tables, both sorted, indented by two
 * blanks a level.
 * Owner: the arena.
 * Errors: none. Threads: all functions.
 * Source: kops 1.37 pkg/tomlwriter.
 * Tests: test_kops_containerd.c. */
#pragma once

#include "nodeup/base/tree.h"

/* Sets the value at a path of keys below a table, and makes the tables on the way. As in kops, a key of the path at
 * which a value stands is skipped, and a new value replaces a table. */
void toml_set(struct arena *a, struct tree *table, const struct strv *path, struct tree *value);
/* Returns the text of a document. */
const char *toml_text(struct arena *a, const struct tree *document);
/* Returns a text as a TOML string in quotes. */
const char *toml_string(struct arena *a, const char *text);
