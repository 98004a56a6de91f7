/* rules.h - what the values of several keys have to be together
 * One row a rule; a program's rows are in a table of its own (rules_kubelet.c), and dialects with the same keys share it. A
 * row asks for values as the program gets them: of several sections the last that has the key counts.
 * Owner: the arena; rows are constants. Errors: none; findings are data, see values.h. Threads: all functions.
 * Source: each row names its own. */
#pragma once

#include "nodeup/base/accepts.h"

/* A map of a program's keys in a document, and its name for messages. */
struct rule_section {
	const char *path;       /* "KubeletConfig"; "" at the top of the document */
	const struct tree *map; /* NULL: it is not there */
};

struct rule_values {
	const struct rule_section *sections; /* what a later one has wins */
	size_t n;
	int minor; /* of Kubernetes 1.x */
};

struct field_rule {
	/* "a|b": the first that is there is the place of the error; where none is, the rule is not asked */
	const char *keys;
	/* what holds where it is broken, see rules_hold(); NULL: is_broken alone tells */
	const char *when;
	bool (*is_broken)(
		const struct rule_values *v); /* and what `when` cannot say; NULL: nothing */
	const char *text; /* what the program demands, behind the key: "expected less than b" */
	/* minor versions of Kubernetes 1.x that it holds for first and last; 0: no bound */
	uint8_t since, until;
};

struct field_rules {
	const struct field_rule *v;
	size_t n;
};

/* A value as it is; NULL: no section has it. */
const struct tree *rules_value(const struct rule_values *v, const char *key);
/* The same as a text, an integer, a boolean or a duration; `usual` where it is not there, or is none. */
const char *rules_text(const struct rule_values *v, const char *key, const char *usual);
int64_t rules_int(const struct rule_values *v, const char *key, int64_t usual);
bool rules_bool(const struct rule_values *v, const char *key, bool usual);
int64_t rules_duration(const struct rule_values *v, const char *key, int64_t usual_ns);
/* Whether each term of a condition holds; they have '&' between them. "a": it is given; "!a": it is not. "a=x|y": one of
 * its words is x or y; "a!=x|y": none is. "a<b" and "a<=3" compare amounts, "a<~b*1.2" and "a<=~2s" durations; where one
 * of the two is none they do not hold. "a:10s" is 10s where a is not given, "a.b" is b of the map a, "@a" are a's words. */
bool rules_hold(const struct rule_values *v, const char *when);
/* Append the rules of that version that are broken. */
void rules_find(struct arena *a, const struct field_rules *rules, const struct rule_values *v,
		struct accepts_findings *ret);
