/* value.h - the values of a template's expressions, as Python 2 has them
 * Texts are bytes with a length, in the arena or borrowed from template and context, and hold no NUL. Lists never
 * change. All variables that name a dictionary share it, and .update() changes it. Every function that takes a
 * `struct work` takes its steps and bytes from there, and fails when they are used up.
 * Bodies: operate.c.
 * Owner: the arena. Errors: CONFIG, with the place that the caller names.
 * Tests: test_refusals.c, test_template.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/tree.h"
#include "nodeup/template/source.h"

enum value_kind {
	V_UNSET, /* a name without a value; no expression has this kind */
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
	bool wide; /* Python's unicode, not str: the same text, but shown with a u inside a list */
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
		struct text lacks; /* V_UNDEFINED: the name that is not defined */
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
	bool given; /* the caller of the renderer gave it, so it may not be changed */
};

/* What is left of the limits. */
struct work {
	struct arena *a;
	const struct source *source;
	size_t steps, bytes; /* bytes: room for values */
	size_t depth;
};

/* Takes steps for an operation that touches that many bytes or elements. */
int work_spend(struct work *w, size_t at, size_t touched) must_check;
/* Allocates zeroed memory in the arena. NULL: the limit is reached, and the error is set. */
void *work_alloc(struct work *w, size_t at, size_t size) must_check;

/* Makes an empty list with room for n values. NULL: the limit is reached, and the error is set. */
struct list *list_new(struct work *w, size_t at, size_t n);
/* Makes a text of n bytes, which it borrows; it is wide if they are not all ASCII. */
struct value value_text(const char *p, size_t n);
struct value value_bool(bool yes);
struct value value_int(int64_t i);
/* Makes a number with a fraction. Fails if Python 2 would write more than 12 digits. */
int value_float(const struct source *s, size_t at, double f, struct value *ret) must_check;
/* Makes a value of a tree that the caller gives. wide: texts become unicode, as Salt does with the texts at the top. */
int value_of_tree(struct work *w, const struct tree *t, bool wide, struct value *ret) must_check;

/* Return whether a value is a number (booleans count), whether it is a number without a fraction, and the value of
 * such a number. */
bool value_is_number(const struct value *v);
bool value_is_integer(const struct value *v);
int64_t value_integer(const struct value *v);
/* The kind in words for messages: "a text", "a list". */
const char *value_kind_name(const struct value *v);
/* Fails unless the value is defined. */
int value_need(struct work *w, size_t at, const struct value *v) must_check;
/* Sets *ret to whether `if` counts the value as true. */
int value_truth(struct work *w, size_t at, const struct value *v, bool *ret) must_check;
/* Python's == and >= for values of any kinds. */
int value_equal(struct work *w, size_t at, const struct value *a, const struct value *b,
		bool *ret) must_check;
int value_at_least(struct work *w, size_t at, const struct value *a, const struct value *b,
		   bool *ret) must_check;
/* Python's `b in a`. */
int value_contains(struct work *w, size_t at, const struct value *a, const struct value *b,
		   bool *ret) must_check;
/* The text of a value as a template prints it. */
int value_str(struct work *w, size_t at, const struct value *v, struct value *ret) must_check;
/* Fails unless the text is ASCII. Operations on single letters work only on ASCII. */
int value_need_ascii(struct work *w, size_t at, const struct value *text) must_check;

/* Finds the pair of a key; *ret is NULL if there is none. */
int dict_find(struct work *w, size_t at, const struct dict *d, const struct text *key,
	      struct pair **ret) must_check;
/* Sets a key. A key that exists keeps its place. */
int dict_set(struct work *w, size_t at, struct dict *d, const struct text *key,
	     const struct value *v) must_check;

/* Operators, filters and methods of Python 2.7; every operand is defined. An operation that Python refuses is an
 * error, and so is a number that does not fit. operate_join joins texts. */
int operate_join(struct work *w, size_t at, const struct list *texts, struct value *ret) must_check;
/* Compute a + b, a * b and -v. */
int operate_add(struct work *w, size_t at, const struct value *a, const struct value *b,
		struct value *ret) must_check;
int operate_multiply(struct work *w, size_t at, const struct value *a, const struct value *b,
		     struct value *ret) must_check;
int operate_negate(struct work *w, size_t at, const struct value *v, struct value *ret) must_check;
/* The filters int and float. Both filters make zero of a value that is not a number. */
int operate_int(struct work *w, size_t at, const struct value *v, struct value *ret) must_check;
int operate_float(struct work *w, size_t at, const struct value *v, struct value *ret) must_check;
/* Put a text into small letters, and split a text at a separator. */
int operate_lower(struct work *w, size_t at, const struct value *text,
		  struct value *ret) must_check;
int operate_split(struct work *w, size_t at, const struct text *text, const struct value *by,
		  struct value *ret) must_check;
