/* ends.h - whether samples try both ends of each range that a table demands
 * Of a range the smallest and the largest value are taken, and the next one beyond each is refused. Samples are written by hand,
 * from what the programs take; this looks for them alone. Ends of 64 bits are asked for of no row: test_field.c and test_dur.c
 * have them.
 * Owner: the caller's storage. Errors: the test fails, with the row. Threads: one. Source: -. */
#pragma once

#include "nodeup/base/accepts.h"

/* A value as a document has it, at a version of Kubernetes 1.x, and whether it is taken. */
struct ends_sample {
	const char *key, *value; /* "a.b[].c" */
	int minor;
	bool taken;
};

/* Look for them, of each integer and duration below s; others: keys, and names of tables, that another test tries. */
void ends_are_tried(const struct schema *s, const struct ends_sample *all, size_t n,
		    const char *const *others);
