/* rules.h - what the values of several keys have to be together
 * One row a rule; a program's rows are in a table of its own (rules_kubelet.c), and dialects with the same keys share it. A
 * row asks for values as the program gets them: of several sections the last that has the key counts.
 * Owner: the arena; rows are constants. Errors: none; findings are data, see values.h. Threads: all functions.
 * Source: each row names its own.
 * Tests: test_rules.c, test_rules_kubelet.c. */
#pragma once

#include "nodeup/base/accepts.h"

/* A map of a program's keys in a document, and its name for messages. */
struct rule_section {
	const char *path;       /* "KubeletConfig"; "" at the top of the document */
	const struct tree *map; /* NULL: it is not there */
	/* its rows tell of which keys an empty text overlays an earlier section's; NULL: of none */
	const struct schema *schema;
};

struct rule_values {
	const struct rule_section *sections; /* what a later one has wins */
	size_t n;
	int minor; /* of Kubernetes 1.x */
};

struct field_rule {
	/* "a|b": the first that is there is the place of the error; where none is, the rule is not asked */
	const char *keys;
	const char *when; /* what holds where it is broken, see rules_hold() */
	const char *text; /* what the program demands, behind the key: "expected less than b" */
	/* minor versions of Kubernetes 1.x that it holds for first and last; 0: no bound */
	uint8_t since, until;
};

struct field_rules {
	const struct field_rule *v;
	size_t n;
	const char *sections; /* "a|b": maps that have its keys, "document" at the top; for help */
};

/* Returns whether each term of a condition holds, and none asks for a value that its reader has refused.
 * Terms have '&' between them, and '!' before one turns it around.
 * "a": it is given. "a=x|y": one of its words is x or y, which are extended regular expressions. "a~x": its words with commas
 * between them match one. "a@b": a word of a is one of b. "a#": a name is in it twice; that of "x<1Gi" is x, of "x=y:z" "x:z".
 * "a<b" and "a<=3" compare amounts, "a<~b*1.2" and "a<=~2s" durations; where one of the two is none they do not hold. Of a
 * range of addresses the mask is compared, and "a+16" is more than a.
 * In all, "a:10s" is 10s where a is not given, and "a.b" is b of the map a. */
bool rules_hold(const struct rule_values *v, const char *when);
/* Append the rules of that version that are broken. */
void rules_find(struct arena *a, const struct field_rules *rules, const struct rule_values *v,
		struct accepts_findings *ret);
