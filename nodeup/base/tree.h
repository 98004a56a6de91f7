/* tree.h - a document as scalars, sequences and maps
 * YAML and JSON are read into such a tree, and written from it. Each node knows its place, so that a message can say
 * file:line:column. Maps keep the document's order.
 * Owner: the arena. Errors: none. Units: lines and columns from 1.
 * Tests: test_tree.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/str.h"

enum tree_kind { TREE_NULL, TREE_SCALAR, TREE_SEQ, TREE_MAP };

struct tree_pos {
	const char *file; /* as the user named it; NULL for a tree that was not read from a text */
	unsigned int line, column;
};

struct tree;

struct tree_item {
	const char *key; /* the item's key; NULL in a sequence */
	struct tree_pos key_pos;
	struct tree *value;
};

struct tree {
	enum tree_kind kind;
	bool quoted; /* the scalar was quoted, or must be written as a string */
	bool is_wrong; /* the reader reported an error in this node and went on: the node counts as missing */
	struct tree_pos pos;
	const char *scalar; /* text of a TREE_SCALAR */
	struct tree_item *items;
	size_t n;
};

/* Build a node. A string is marked `quoted`, so that it reads back as a string even if it looks like a number. */
struct tree *tree_null(struct arena *a);
struct tree *tree_string(struct arena *a, const char *s);
struct tree *tree_plain(struct arena *a, const char *s); /* for numbers and booleans */
struct tree *tree_seq(struct arena *a);
struct tree *tree_map(struct arena *a);
/* Append to a sequence; set a key of a map (unique). Both functions return the container. */
struct tree *tree_add(struct arena *a, struct tree *seq, struct tree *value);
struct tree *tree_set(struct arena *a, struct tree *map, const char *key, struct tree *value);
/* Set a key to a value of a common type. Leaves the key out if the value is empty: a text NULL, a word NULL or "",
 * false, an empty container. Numbers are always set. */
void tree_set_text(struct arena *a, struct tree *map, const char *key, const char *text);
void tree_set_word(struct arena *a, struct tree *map, const char *key, const char *text);
void tree_set_int(struct arena *a, struct tree *map, const char *key, int64_t n);
void tree_set_true(struct arena *a, struct tree *map, const char *key, bool value);
void tree_set_some(struct arena *a, struct tree *map, const char *key, struct tree *container);
/* Make a sequence of texts, and a map of them in their order. */
struct tree *tree_of_strv(struct arena *a, const struct strv *v);
struct tree *tree_of_strmap(struct arena *a, const struct strmap *m);
/* Sorts the keys of all maps, as Go writes them. */
void tree_sort(struct tree *t);
/* Returns the value of an exact key, or NULL. */
struct tree *tree_get(const struct tree *map, const char *key);
/* Like tree_get. If no key matches exactly, takes a key that differs only by case, as kops does. */
const struct tree *tree_lookup(const struct tree *map, const char *key);
/* Returns the scalar of an exact key; NULL: there is no such key, or it has no scalar. */
const char *tree_text(const struct tree *map, const char *key);
/* Like tree_text, but "" instead of NULL, for messages. */
const char *tree_says(const struct tree *map, const char *key);
/* Returns whether a document is empty: null, "", or an object of Kubernetes' form without a `spec`, or with an empty
 * one. */
bool tree_is_hollow(const struct tree *t);
/* Returns whether two trees are equal in kinds, scalars and keys; ignores map order. */
bool tree_eq(const struct tree *a, const struct tree *b);
/* Returns the type of a plain scalar by YAML 1.1 as yaml.v2 reads it. A scalar of no other type is a string. */
enum tree_type { TREE_IS_STRING, TREE_IS_NULL, TREE_IS_BOOL, TREE_IS_INT, TREE_IS_FLOAT };
enum tree_type tree_type_of(const char *plain);
/* Returns whether a plain scalar of type BOOL means true. */
bool tree_is_true(const char *plain);
/* Returns "file:line:column" for a message; only "file" if there is no line; "" if the place is unknown. */
const char *tree_where(struct arena *a, const struct tree_pos *pos);
/* Returns "file:line:column: " of a key's value (as tree_lookup finds it). If there is no value, returns the map's
 * place; "" for a tree that was not read from a text. */
const char *tree_place(struct arena *a, const struct tree *map, const char *key);
