/* xml.h - AWS's XML answers as a tree of elements
 * Leaves out attributes and name spaces. Only an element without other elements inside has text. Reads at most 16
 * levels, and 8 KiB of text an element. A document type, which can be abused for attacks, ends the reading.
 * Owner: the arena. Errors: none; a text that ends too early gives the elements read until then. Threads: all
 * functions.
 * Source: expat.
 * Tests: test_ec2.c. */
#pragma once

#include "nodeup/base/str.h"

struct xml {
	const char *name, *text; /* never NULL */
	struct xml *first, *last, *next;
};

/* Reads a text. NULL: the text has no element. *ret_whole (if ret_whole is not NULL): whether the text was
 * well-formed. */
const struct xml *xml_parse(struct arena *a, const char *text, size_t n, bool *ret_whole);
/* Returns the first element of that name directly inside x. NULL: x has no such element, or is NULL. */
const struct xml *xml_get(const struct xml *x, const char *name);
/* Returns the first item in the element of that name; its `next` is the second item. NULL: there is no such element,
 * or it has no item. */
const struct xml *xml_items(const struct xml *x, const char *name);
/* Returns the text of x's element of that name; "": there is no such element. */
const char *xml_text(const struct xml *x, const char *name);
