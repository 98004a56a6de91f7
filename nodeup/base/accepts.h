/* accepts.h - what the program behind a key takes, at which versions of Kubernetes
 * A row of a field table names such a demand in `accepts`. The row's own format, words and range are what the reader
 * demands: they are errors always. A demand is told apart from them, as it holds for some versions alone, and the version is
 * known only when all of the document was read: so the reader reads it once more, and shows what it sees.
 * Invariant: a value that counts as not given is never told: an empty one, and one that is the row's flag_empty. A value that the reader refused is not told again. No secret is shown.
 * Owner: the arena; demands are constants. Errors: none; findings are data, the caller weighs them. Threads: all.
 * Source: demands name their own where they stand.
 * Tests: test_accepts.c. */
#pragma once

#include "nodeup/base/field.h"

/* One demand. In a text with `commas` it is of each word, in a list of each item, in a map of each value. */
struct field_accepts {
	/* "an integer from 0 to 100", for messages and help; NULL: made of oneof */
	const char *wanted;
	const char *oneof; /* "a|b", or NULL */
	/* range of an integer, also in a text, or of a duration in ns; both 0: any; INT64_MIN, INT64_MAX: no bound */
	int64_t min, max;
	bool zero; /* 0 is taken as well */
	/* an extended regular expression, of any case behind "(?i)", not to match behind "!"; NULL: any */
	const char *pattern;
	/* "a|b": names that a slip in such a word is compared with, as "-name", "name<1Gi" or "name=true" */
	const char *near;
	uint8_t longest; /* letters of the word; 0: any. A number in an expression takes memory by its square */
	bool prefix;                     /* those before its first '/' are counted alone */
	bool (*is_valid)(const char *s); /* the same, of what no expression says */
	const char *
		one_key; /* "a|b": the map, or each of the list, has one of these keys and no second one */
	bool needed; /* it is there, and not empty */
	bool keys;   /* of a map: its keys are meant, not its values */
	bool pairs;  /* of a map: "key=value" is meant, of each */
	bool commas; /* a text has several words, with a comma between each */
	bool names;  /* a build of the program may have more: a warning, an error with --strict */
	/* minor versions of Kubernetes 1.x that the demand holds for first and last; 0: no bound */
	uint8_t since, until;
	const struct field_accepts
		*next; /* of the same field: one for other versions, or one more */
};

/* A range of integers, with its words. */
#define ACCEPTS_FROM_TO(least, most) \
	.wanted = "an integer from " #least " to " #most, .min = (least), .max = (most)
#define ACCEPTS_OR_MORE(least) \
	.wanted = "an integer of " #least " or more", .min = (least), .max = INT64_MAX

/* A value that the program refuses. */
struct accepts_finding {
	const char *key;     /* "KubeletConfig.taints": what the setting `accept` calls it */
	const char *text;    /* "f:2:1: KubeletConfig.taints[0]: expected ..., found ..." */
	const char *nearest; /* the word that it was meant to be, or NULL */
	bool names;
};

struct accepts_findings {
	struct accepts_finding *v;
	size_t n;
};

struct accepts_opts {
	int minor;        /* of Kubernetes 1.x */
	const char *path; /* prefix for messages and keys, "" at the top */
	/* names all findings of a text that no reader has looked at, so its refusals are findings too; NULL: each has its own */
	const char *key;
	bool secret; /* no value is shown */
};

/* Append what the programs refuse of a map by schema s, in the order of the table. */
void accepts_check(struct arena *a, const struct schema *s, const struct tree *map,
		   const struct accepts_opts *o, struct accepts_findings *ret);
/* Returns whether a word matches such a pattern; one that is no expression asks for nothing. */
bool accepts_matches(const char *pattern, const char *word);
/* Returns whether what holds from `since` to `until` (0: no bound) holds for this version. */
bool accepts_holds(unsigned int since, unsigned int until, int minor);
/* Returns the words for a demand: "one of a|b", "a duration of 1s or more". */
const char *accepts_wanted(struct arena *a, const struct field_accepts *d);
