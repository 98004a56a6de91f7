/* json.h - JSON text to and from a tree
 * Duplicate keys are an error; the caller limits the size, the library the depth.
 * Owner: the arena. Errors: CONFIG with file:line:column. Source: RFC 8259.
 * Tests: test_json.c. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/base/tree.h"

enum { JSON_VALUES_MAX = 20000 };

/* Parses one value. */
int json_parse(struct arena *a, const char *file, const char *text, size_t n,
	       struct tree **ret_tree, struct err *e) must_check;
/* Like json_parse, but refuses a text of more than JSON_VALUES_MAX values before it allocates any value. */
int json_parse_few(struct arena *a, const char *file, const char *text, size_t n,
		   struct tree **ret_tree, struct err *e) must_check;
/* Appends the tree as JSON: indented if `pretty`; otherwise on one line. A plain scalar that is neither a JSON
 * number nor true or false becomes a string. */
int json_render(const struct tree *t, bool pretty, struct buf *b, struct err *e) must_check;
