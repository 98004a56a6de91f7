/* yaml.h - YAML text to and from a tree
 * Reading is bounded: size by the caller's buffer, depth 64, 20,000 nodes after aliases. Duplicate
 * keys, several documents, non-scalar keys and unknown tags are errors with file:line:column.
 * Writing is deterministic: same tree, same bytes.
 * Owner: the arena. Errors: CONFIG. Source: YAML 1.1 as libyaml and ghodss/yaml read it.
 * Tests: test_yaml.c. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/base/tree.h"

/* Parse one document; an empty one gives TREE_NULL. `file` is kept for messages. */
int yaml_parse(struct arena *a, const char *file, const char *text, size_t n,
	       struct tree **ret_tree, struct err *e) must_check;
/* Returns whether the first document of a text has the grammar of YAML, whether or not yaml_parse takes its values;
 * else the place where the grammar ends. */
bool yaml_is_well_formed(const char *text, size_t n, struct tree_pos *ret_stop);
/* Returns whether a text is a document that says nothing (tree_is_hollow); one that cannot be read is not. */
bool yaml_is_hollow(const char *text, size_t n);
/* Append the tree as block-style YAML, ending in a newline. */
int yaml_render(const struct tree *t, struct buf *b, struct err *e) must_check;
