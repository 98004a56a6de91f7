/* tree.h - a document as scalars, sequences and maps, whatever text it came from
 * YAML and JSON are both read into it and written from it. Each node knows where it stood, so that
 * a message can say file:line:column. Map order is document order.
 * Owner: the arena. Errors: none. Units: lines and columns from 1.
 * Tests: test_tree.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/str.h"

enum tree_kind { TREE_NULL, TREE_SCALAR, TREE_SEQ, TREE_MAP };

struct tree_pos {
	const char *file; /* as the user named it; NULL for a tree that was built, not read */
	unsigned int line, column;
};

struct tree;

struct tree_item {
	const char *key; /* NULL in a sequence */
	struct tree_pos key_pos;
	struct tree *value;
};

struct tree {
	enum tree_kind kind;
	bool quoted;   /* a scalar that was quoted, or must be written as a string */
	bool is_wrong; /* its reader has told so, and went on: it counts as left out */
	struct tree_pos pos;
	const char *scalar; /* TREE_SCALAR */
	struct tree_item *items;
	size_t n;
};

/* Build a node. A string is `quoted`: it reads back as a string, whatever it looks like. */
struct tree *tree_null(struct arena *a);
struct tree *tree_string(struct arena *a, const char *s);
struct tree *tree_plain(struct arena *a, const char *s); /* numbers and booleans */
struct tree *tree_seq(struct arena *a);
struct tree *tree_map(struct arena *a);
/* Append to a sequence; set a key of a map (unique). Both return the container. */
struct tree *tree_add(struct arena *a, struct tree *seq, struct tree *value);
struct tree *tree_set(struct arena *a, struct tree *map, const char *key, struct tree *value);
/* The same of what most maps are made of; all but numbers are left out when there is nothing to say: no
 * text (NULL), no word (NULL or ""), false, an empty container. */
void tree_set_text(struct arena *a, struct tree *map, const char *key, const char *text);
void tree_set_word(struct arena *a, struct tree *map, const char *key, const char *text);
void tree_set_int(struct arena *a, struct tree *map, const char *key, int64_t n);
void tree_set_true(struct arena *a, struct tree *map, const char *key, bool value);
void tree_set_some(struct arena *a, struct tree *map, const char *key, struct tree *container);
/* A sequence of texts, and a map of them in their order. */
struct tree *tree_of_strv(struct arena *a, const struct strv *v);
struct tree *tree_of_strmap(struct arena *a, const struct strmap *m);
/* Sort the keys of all maps, as Go writes them. */
void tree_sort(struct tree *t);
/* The value of an exact key, or NULL. */
struct tree *tree_get(const struct tree *map, const char *key);
/* As tree_get, a key of another case included where there is no exact one: as kops matches keys. */
const struct tree *tree_lookup(const struct tree *map, const char *key);
/* The scalar of an exact key; NULL: there is no such key, or no scalar. */
const char *tree_text(const struct tree *map, const char *key);
/* The same, to be shown; "": there is none. */
const char *tree_says(const struct tree *map, const char *key);
/* Returns whether a document says nothing: null, empty, or an object of Kubernetes' form without a `spec`, or with an
 * empty one. */
bool tree_is_hollow(const struct tree *t);
/* Returns whether two trees say the same: kinds, scalars and keys equal, map order ignored. */
bool tree_eq(const struct tree *a, const struct tree *b);
/* The type of a plain scalar by YAML 1.1 as yaml.v2 reads it; a string if it is nothing else. */
enum tree_type { TREE_IS_STRING, TREE_IS_NULL, TREE_IS_BOOL, TREE_IS_INT, TREE_IS_FLOAT };
enum tree_type tree_type_of(const char *plain);
/* Returns whether a plain scalar of type BOOL means true. */
bool tree_is_true(const char *plain);
/* "file:line:column" for a message; "file" alone without a line, "" when unknown. */
const char *tree_where(struct arena *a, const struct tree_pos *pos);
/* "file:line:column: " of a key's value as of tree_lookup, else of the map; "" for one that was built. */
const char *tree_place(struct arena *a, const struct tree *map, const char *key);
