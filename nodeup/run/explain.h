/* explain.h - what an error of each kind means, in the words of help and of the journal's catalog
 * The last line of a run ends in the exit status of its error; that number, or the kind's name, leads here.
 * Owner: static tables. Errors: none. Threads: all functions. Source: journalctl(1), the catalog's form in
 * systemd's CATALOG.md.
 * Tests: test_report.c. */
#pragma once

#include "nodeup/base/buf.h"

struct explanation {
	int status;          /* exit status of the kind */
	const char *name;    /* "integrity" */
	const char *id;      /* MESSAGE_ID= of its record in the journal, 128 bits in hex */
	const char *subject; /* a line */
	const char *text;    /* what it means, what is untouched, what to do */
	const char *remedy;  /* the last of these alone */
};

/* The rows, by number; the last one has no name. */
extern const struct explanation explanations[];

/* By "65" or "integrity", or NULL. */
const struct explanation *explain_find(const char *word);
/* By exit status, or NULL. */
const struct explanation *explain_status(int64_t status);
/* Append one as help shows it, and all of them as the journal's catalog has them. */
void explain_show(const struct explanation *x, struct buf *b);
void explain_catalog(struct buf *b);
