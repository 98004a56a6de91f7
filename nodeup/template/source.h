/* source.h - a template's text, and errors that say where in it
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

/* Fill the error with "file:line:column: message" and return -EINVAL. */
int source_fail(const struct source *s, size_t at, const char *fmt, ...) printf_like(3, 4);
/* That the text is UTF-8 with newlines, tabs and no other control character. */
int source_check(const struct source *s) must_check;
