/* accepts.h - checks whether the program that gets a value accepts it, by Kubernetes' version
 * In `accepts` a row of a field table names what the program demands of the value. The reader checks the row's own
 * format, words and range; a value that violates these is always an error. A demand may hold only for some versions,
 * and the version is known only after the whole document was read. So the demands are checked in a second walk over
 * the document.
 * Invariant: never reports a value that counts as unset: an empty one, or the row's flag_empty. Never reports a
 * value that the reader refused already. Never shows a secret.
 * Owner: the arena; demands are constants. Errors: none; findings are data, the caller weighs them. Threads: all.
 * Source: each demand names its source.
 * Tests: test_accepts.c. */
#pragma once

#include "nodeup/base/field.h"

/* One demand. A demand applies to each word of a text with `commas`, to each item of a list, and to each value of a
 * map. */
struct field_accepts {
	/* "an integer from 0 to 100", for messages and help; NULL: made from oneof */
	const char *wanted;
	const char *oneof; /* "a|b", or NULL */
	/* range of an integer, also in a text, or of a duration in ns; both 0: any; INT64_MIN, INT64_MAX: no bound */
	int64_t min, max;
	bool zero; /* 0 is accepted too */
	/* an extended regular expression; a leading "(?i)" ignores case, a leading "!" negates the match; NULL: any
	 * text */
	const char *pattern;
	/* "a|b": known names with which a typo is compared; a value may contain them as "-name", "name<1Gi" or
	 * "name=true" */
	const char *near;
	uint8_t longest; /* most letters of a word; 0: no limit. A repetition count in `pattern` takes memory by its
			  * square */
	bool prefix; /* `longest` counts only the letters before the first '/' */
	bool (*is_valid)(const char *s); /* a check that no expression can make */
	const char *
		one_key; /* "a|b": the map, or each map of the list, has exactly one of these keys */
	bool needed;     /* the value must be given, and not empty */
	bool keys;       /* for a map: checks its keys, not its values */
	bool pairs;      /* for a map: checks each key together with its value, as "key=value" */
	bool commas;     /* a text holds several words, joined by commas */
	bool names; /* a build of the program may know more names, so an unknown name is only a warning; with
		     * --strict, an error */
	/* first and last minor version of Kubernetes 1.x that the demand is for; 0: no bound */
	uint8_t since, until;
	const struct field_accepts
		*next; /* another demand for the same field, for other versions or in addition */
};

/* The members of a demand for a range of integers. */
#define ACCEPTS_FROM_TO(least, most) \
	.wanted = "an integer from " #least " to " #most, .min = (least), .max = (most)
#define ACCEPTS_OR_MORE(least) \
	.wanted = "an integer of " #least " or more", .min = (least), .max = INT64_MAX

/* A value that the program refuses. */
struct accepts_finding {
	const char *key;     /* "KubeletConfig.taints": its name in the setting `accept` */
	const char *text;    /* "f:2:1: KubeletConfig.taints[0]: expected ..., found ..." */
	const char *nearest; /* the word that was probably meant, or NULL */
	bool names;
};

struct accepts_findings {
	struct accepts_finding *v;
	size_t n;
};

struct accepts_opts {
	int minor;        /* minor version of Kubernetes 1.x */
	const char *path; /* prefix for messages and keys, "" at the top */
	/* for a text that no reader has checked: the key of all findings, which include values that a reader would
	 * refuse. NULL: each finding has its own key */
	const char *key;
	bool secret; /* findings show no value */
};

/* Appends a finding for each value of the map that its program refuses, in the order of the rows of schema s. */
void accepts_check(struct arena *a, const struct schema *s, const struct tree *map,
		   const struct accepts_opts *o, struct accepts_findings *ret);
/* Returns whether a word matches a pattern in the form of field_accepts.pattern. If the pattern is not valid, every
 * word matches. */
bool accepts_matches(const char *pattern, const char *word);
/* Returns whether the range from `since` to `until` (0: no bound) includes this version. */
bool accepts_holds(unsigned int since, unsigned int until, int minor);
/* Returns the words for a demand: "one of a|b", "a duration of 1s or more". */
const char *accepts_wanted(struct arena *a, const struct field_accepts *d);
