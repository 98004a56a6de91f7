/* explain.h - the meaning of each kind of error, for help and the journal's catalog
 * The last line of a run ends in its error's exit status; that number, or the kind's name, leads here.
 * Owner: static tables. Errors: none. Threads: all functions.
 * Source: journalctl(1), the catalog's form in systemd's CATALOG.md.
 * Tests: test_report.c. */
#pragma once

#include "nodeup/base/buf.h"

struct explanation {
	int status;          /* exit status of the kind */
	const char *name;    /* "integrity" */
	const char *id;      /* MESSAGE_ID= of the kind's record in the journal, 128 bits in hex */
	const char *subject; /* one line about the kind */
	const char *text;    /* what the kind means, what is untouched, what to do */
	const char *remedy;  /* only the part about what to do */
};

/* The rows, by number; the last one has no name. */
extern const struct explanation explanations[];

/* Finds a row by "65" or "integrity"; or NULL. */
const struct explanation *explain_find(const char *word);
/* Finds a row by exit status; or NULL. */
const struct explanation *explain_status(int64_t status);
/* Append one row in help's form, and all rows in the form of the journal's catalog. */
void explain_show(const struct explanation *x, struct buf *b);
void explain_catalog(struct buf *b);
