/* parse.h - a template as a tree of nodes
 * Fails on text outside the grammar (README.md), even if it would never be evaluated. Variables have numbers, and a
 * node that names a variable holds its number. Nodes are nested no deeper than the limit.
 * Owner: the arena; data and texts borrow the template. Errors: CONFIG with the place.
 * Source: Jinja 2.7.3, jinja2/parser.py and compiler.py.
 * Tests: test_template.c. */
#pragma once

#include "nodeup/template/template.h"
#include "nodeup/template/value.h"

enum syntax_kind {
	/* statements; a block has any number of kids */
	N_BLOCK,
	N_DATA,  /* value */
	N_PRINT, /* kid */
	N_DO,    /* kid */
	N_SET,   /* name, kid */
	N_IF,    /* kids: condition, block, condition, block ..., and last the block of else */
	N_FOR,   /* name, kids: list, block; saved */
	/* expressions */
	N_CONST,      /* value */
	N_NAME,       /* name, value: the name's text */
	N_LIST,       /* kids */
	N_DICT,       /* kids: key, value, key, value ... */
	N_ATTR,       /* kid, value: the name after the dot */
	N_ITEM,       /* kids: container, index */
	N_CALL,       /* method, kids: receiver, arguments */
	N_GRAINS_GET, /* name: the variable grains; kids: arguments */
	N_MINE_GET,
	N_FILTER, /* filter, kid */
	N_NEGATE,
	N_NOT,
	N_DEFINED, /* kid */
	N_ADD,
	N_CONCAT,
	N_MULTIPLY, /* kids, from left to right */
	N_AND,
	N_OR, /* kids */
	N_EQUAL,
	N_UNEQUAL,
	N_AT_LEAST,
	N_IN,
	N_NOT_IN, /* two kids */
};

enum method { M_GET, M_LOWER, M_VALUES, M_SPLIT, M_UPDATE };
enum filter { F_INT, F_FLOAT, F_STRING };

struct syntax {
	enum syntax_kind kind;
	unsigned int height; /* 1 for a node without kids */
	size_t at;
	size_t name;
	enum method method;
	enum filter filter;
	struct value value;
	struct syntax **kids;
	size_t n;
	const size_t *saved; /* with N_FOR: variables whose old value comes back after the loop */
	size_t nsaved;
};

/* Parses the whole text. Returns the outermost block, and the variables' names by number. */
int parse_template(struct arena *a, const struct source *s, size_t depth, struct syntax **ret_block,
		   struct strv *ret_names) must_check;
/* Returns whether Python's dictionaries have a method of this name. */
bool parse_is_method(const struct text *name);
