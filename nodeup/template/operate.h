/* operate.h - operators, filters and methods
 * Every operand is defined. An operation that Python refuses is an error here, and so is a number that does not fit.
 * Owner: the arena. Errors: CONFIG, with the place that the caller names. Source: Python 2.7.
 * Tests: test_template.c. */
#pragma once

#include "nodeup/template/value.h"

/* Texts one after another. */
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
