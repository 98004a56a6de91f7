/* source.h - a template's text, and errors that name a place in it
 * Owner: the caller's text. Errors: CONFIG. Units: a place is an offset in bytes.
 * Tests: test_refusals.c. */
#pragma once

#include "nodeup/base/mem.h"

struct source {
	const char *file;
	const char *text;
	size_t n;
	struct err *e;
};

/* Fills the error with "file:line:column: message" and returns -EINVAL. */
int source_fail(const struct source *s, size_t at, const char *fmt, ...) printf_like(3, 4);
/* Fails unless the text is UTF-8 without control characters other than newline and tab. */
int source_check(const struct source *s) must_check;
