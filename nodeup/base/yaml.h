/* yaml.h - YAML text to and from a tree
 * Reading is bounded: size by the caller's buffer, depth 64, 20,000 nodes after aliases. Duplicate
 * keys, several documents, non-scalar keys and unknown tags are errors with file:line:column.
 * Writing is deterministic: same tree, same bytes.
 * Owner: the arena. Errors: CONFIG. Source: YAML 1.1 as libyaml and ghodss/yaml read it.
 * Tests: test_yaml.c. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/base/tree.h"

/* Parses one document; an empty one gives TREE_NULL. `file` is kept for messages. */
int yaml_parse(struct arena *a, const char *file, const char *text, size_t n,
	       struct tree **ret_tree, struct err *e) must_check;
/* Returns whether the first document of a text is well-formed YAML; yaml_parse may still refuse its values. If not,
 * *ret_stop is the place of the fault. */
bool yaml_is_well_formed(const char *text, size_t n, struct tree_pos *ret_stop);
/* Returns whether a text is an empty document (tree_is_hollow). A text that cannot be read does not count as empty. */
bool yaml_is_hollow(const char *text, size_t n);
/* Appends the tree as block-style YAML that ends in a newline. */
int yaml_render(const struct tree *t, struct buf *b, struct err *e) must_check;
