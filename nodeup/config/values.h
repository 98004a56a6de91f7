/* values.h - values that a program refuses: finds them, and decides which of them end the run
 * Values are read first and judged later, since their validity depends on the program's version. A dialect finds
 * refused values (values_find, values_find_across) and judges once. All faults are reported at once.
 * Severity is decided here alone. A refused value is an error, with three exceptions:
 * - a name that another build of the program may have is a warning, an error with --strict;
 * - a key that the setting `accept` names is a warning;
 * - if a run with the same documents ended well on this instance, it is a warning. The newer nodeup is then wrong
 * about the program, and must not refuse a node that works.
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
	int minor;                 /* minor version of Kubernetes 1.x */
	const struct tree *accept; /* the document's own setting; NULL: none */
	struct accepts_findings found;
};

/* Finds refused values in a map that was read by schema s. */
void values_find(struct values *v, const struct schema *s, const struct tree *map);
/* Finds the rules that the sections of a program break together. If several sections have a key, the last one
 * counts. */
void values_find_across(struct values *v, const struct field_rules *rules,
			const struct rule_section *sections, size_t n);
/* Does the same as values_find_across, for sections given by their place in a document: "a.b". Sections are
 * separated by '|'; a later section comes after an earlier one. */
void values_find_below(struct values *v, const struct field_rules *rules, const struct tree *t,
		       const char *places);
/* Makes errors and warnings of the findings. */
int values_judge(struct values *v, struct err *e) must_check;
