/* values.h - values that a program refuses: which there are, and which of them end the run
 * Values are read first and judged then, as what a program takes depends on its version. A dialect finds
 * (values_find, values_find_across) and judges once. All that is wrong is told at once.
 * Severity is decided here alone. A refused value is an error, but for three:
 * - a name that another build of the program may have is a warning, an error with --strict;
 * - a key that the setting `accept` names is a warning;
 * - where a run with the same documents ended well on this instance, it is a warning. A newer nodeup then knows of the
 *   program what is not so, and must not refuse a node that works.
 * Owner: the arena. Errors: CONFIG with file:line:column. Threads: all functions.
 * Source: each demand and rule names its own.
 * Tests: test_values.c. */
#pragma once

#include "nodeup/base/accepts.h"
#include "nodeup/config/dialect.h"
#include "nodeup/config/rules.h"

/* Findings in the documents of a node. */
struct values {
	struct arena *arena;
	const struct dialect_opts *opts;
	int minor;                 /* of Kubernetes 1.x */
	const struct tree *accept; /* of the document's own settings; NULL: none */
	struct accepts_findings found;
};

/* Find the values of a map that was read by schema s. */
void values_find(struct values *v, const struct schema *s, const struct tree *map);
/* Find the rules that a program's sections break together; the last section with a key has the last word. */
void values_find_across(struct values *v, const struct field_rules *rules,
			const struct rule_section *sections, size_t n);
/* The same of sections by their place in a document: "a.b", with '|' before each that comes later. */
void values_find_below(struct values *v, const struct field_rules *rules, const struct tree *t,
		       const char *places);
/* Make errors and warnings of what was found. */
int values_judge(struct values *v, struct err *e) must_check;
