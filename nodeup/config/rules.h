/* rules.h - rules that several keys must meet together
 * Each rule is one row. A program's rows are in a table of its own (rules_kubelet.c), and dialects with the same
 * keys share it. A row asks for the values that the program gets: if several sections have the key, the last one
 * counts.
 * Owner: the arena; rows are constants. Errors: none; findings are data, see values.h. Threads: all functions.
 * Source: each row names its own.
 * Tests: test_rules.c, test_rules_kubelet.c. */
#pragma once

#include "nodeup/base/accepts.h"

/* A map of a program's keys in a document, and its name for messages. */
struct rule_section {
	const char *path;       /* "KubeletConfig"; "" at the top of the document */
	const struct tree *map; /* NULL: the section is missing */
	/* tells for which keys an empty text overrides an earlier section; NULL: for none */
	const struct schema *schema;
};

struct rule_values {
	const struct rule_section *sections; /* a later section overrides an earlier one */
	size_t n;
	int minor; /* minor version of Kubernetes 1.x */
};

struct field_rule {
	/* "a|b": the first key that is given is the error's place; if none is given, the rule does not apply */
	const char *keys;
	const char *when; /* condition that holds if the rule is broken, see rules_hold() */
	const char *text; /* the program's demand, put after the key: "expected less than b" */
	/* first and last minor version of Kubernetes 1.x to which the rule applies; 0: no bound */
	uint8_t since, until;
};

struct field_rules {
	const struct field_rule *v;
	size_t n;
	const char *sections; /* "a|b": maps with its keys, "document" for the top; for help */
};

/* Returns whether each term of a condition holds, and no term needs a value that its reader has refused. There is
 * '&' between terms; '!' before a term negates it. The forms of a term: "a": a is given. "a=x|y": one word of a
 * matches x or y, which are extended regular expressions. "a~x": the words of a, joined by commas, match x. "a@b": a
 * word of a is also a word of b. "a#": a has a name twice; the name of "x<1Gi" is x, that of "x=y:z" is "x:z". "a<b"
 * and "a<=3" compare amounts, "a<~b*1.2" and "a<=~2s" compare durations. A comparison does not hold if a side is
 * neither an amount nor a duration. If a side is a range of addresses, its mask is compared; "a+16" is 16 more than
 * a. In all terms, "a:10s" means a, or 10s if a is not given, and "a.b" is the key b of the map a. */
bool rules_hold(const struct rule_values *v, const char *when);
/* Appends the rules that the values break, for their version of Kubernetes. */
void rules_find(struct arena *a, const struct field_rules *rules, const struct rule_values *v,
		struct accepts_findings *ret);
