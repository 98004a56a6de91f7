/* xml.h - the XML that AWS answers with, as a tree of elements
 * Attributes and name spaces are left out, text counts in elements that have no others in them. At
 * most 16 levels and 8 KiB of text an element; a document type, how XML is abused, ends the reading.
 * Owner: the arena. Errors: none, a text that ends too early gives what was read until then.
 * Threads: all functions. Source: expat.
 * Tests: test_ec2.c. */
#pragma once

#include "nodeup/base/str.h"

struct xml {
	const char *name, *text; /* never NULL */
	struct xml *first, *last, *next;
};

/* Read a text; NULL if it has no element. ret_whole (may be NULL): whether it was well-formed. */
const struct xml *xml_parse(struct arena *a, const char *text, size_t n, bool *ret_whole);
/* The first element of that name directly in x; NULL if there is none, or x is NULL. */
const struct xml *xml_get(const struct xml *x, const char *name);
/* The first element of any name in that one; NULL if there is none. The others are its `next`. */
const struct xml *xml_items(const struct xml *x, const char *name);
/* Its text; "" if there is none. */
const char *xml_text(const struct xml *x, const char *name);
