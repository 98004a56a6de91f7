/* value.h - what expressions of a template give, as Python 2 has it
 * Texts are bytes with a length, in the arena or borrowed from template and context, and hold no NUL.
 * Lists never change. A dictionary is shared by all that name it, and .update() changes it.
 * Every function that takes a `struct work` pays for what it does and fails when the work is used up.
 * Bodies: operate.c.
 * Owner: the arena. Errors: CONFIG, with the place that the caller names.
 * Tests: test_refusals.c, test_template.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/tree.h"
#include "nodeup/template/source.h"

enum value_kind {
	V_UNSET, /* a name that was given no value; never the value of an expression */
	V_UNDEFINED,
	V_NONE,
	V_BOOL,
	V_INT,
	V_FLOAT,
	V_TEXT,
	V_LIST,
	V_DICT,
};

struct text {
	const char *p;
	size_t n;
	bool wide; /* Python's unicode and not its str: the same text, but a list shows it with a u */
};

struct list;
struct dict;

struct value {
	enum value_kind kind;
	union {
		bool yes;
		int64_t i;
		double f;
		struct text text;
		struct text lacks; /* V_UNDEFINED: the name that there is not */
		const struct list *list;
		struct dict *dict;
	};
};

struct list {
	struct value *v;
	size_t n;
};

struct pair {
	struct text key;
	struct value value;
};

struct dict {
	struct pair *v;
	size_t n;
	bool given; /* by the caller, who wants it unchanged */
};

/* The rest of the limits. */
struct work {
	struct arena *a;
	const struct source *source;
	size_t steps, bytes; /* bytes: of values that are made */
	size_t depth;
};

/* Take steps, for something that touches that many bytes or elements. */
int work_spend(struct work *w, size_t at, size_t touched) must_check;
/* Zeroed room in the arena, or NULL and the error. */
void *work_alloc(struct work *w, size_t at, size_t size) must_check;

/* An empty list with room for n; NULL and the error if there is none. */
struct list *list_new(struct work *w, size_t at, size_t n);
/* A text of n bytes that lives long enough; wide if it is not ASCII. */
struct value value_text(const char *p, size_t n);
struct value value_bool(bool yes);
struct value value_int(int64_t i);
/* A number with a fraction. At most 12 digits, as Python 2 writes it; more is an error. */
int value_float(const struct source *s, size_t at, double f, struct value *ret) must_check;
/* Takes a value that the caller handed in. `wide`: its texts are unicode, as Salt makes those at the top. */
int value_of_tree(struct work *w, const struct tree *t, bool wide, struct value *ret) must_check;

/* Returns whether it is a number; without a fraction, as booleans are too; and that number. */
bool value_is_number(const struct value *v);
bool value_is_integer(const struct value *v);
int64_t value_integer(const struct value *v);
/* "a text", "a list": for messages. */
const char *value_kind_name(const struct value *v);
/* An error unless it is defined. */
int value_need(struct work *w, size_t at, const struct value *v) must_check;
/* Returns whether `if` takes it for true. */
int value_truth(struct work *w, size_t at, const struct value *v, bool *ret) must_check;
/* Python's == and >=, of any two. */
int value_equal(struct work *w, size_t at, const struct value *a, const struct value *b,
		bool *ret) must_check;
int value_at_least(struct work *w, size_t at, const struct value *a, const struct value *b,
		   bool *ret) must_check;
/* Python's `b in a`. */
int value_contains(struct work *w, size_t at, const struct value *a, const struct value *b,
		   bool *ret) must_check;
/* The text that a value is written as. */
int value_str(struct work *w, size_t at, const struct value *v, struct value *ret) must_check;
/* Returns whether it is ASCII: what is told apart by letters is told only of those. */
int value_need_ascii(struct work *w, size_t at, const struct value *text) must_check;

/* The pair of a key, or NULL. */
int dict_find(struct work *w, size_t at, const struct dict *d, const struct text *key,
	      struct pair **ret) must_check;
/* Set a key; the one that is there stays with its new value. */
int dict_set(struct work *w, size_t at, struct dict *d, const struct text *key,
	     const struct value *v) must_check;

/* Operators, filters and methods of Python 2.7; every operand is defined. What Python refuses is an error, and so is a number that
 * does not fit. First, texts one after another. */
int operate_join(struct work *w, size_t at, const struct list *texts, struct value *ret) must_check;
/* a + b, a * b and -v. */
int operate_add(struct work *w, size_t at, const struct value *a, const struct value *b,
		struct value *ret) must_check;
int operate_multiply(struct work *w, size_t at, const struct value *a, const struct value *b,
		     struct value *ret) must_check;
int operate_negate(struct work *w, size_t at, const struct value *v, struct value *ret) must_check;
/* The filters int and float: zero of what is not a number. */
int operate_int(struct work *w, size_t at, const struct value *v, struct value *ret) must_check;
int operate_float(struct work *w, size_t at, const struct value *v, struct value *ret) must_check;
/* A text in small letters, and the list of what is between a separator in it. */
int operate_lower(struct work *w, size_t at, const struct value *text,
		  struct value *ret) must_check;
int operate_split(struct work *w, size_t at, const struct text *text, const struct value *by,
		  struct value *ret) must_check;
