/* errs.h - keeps errors, so that a reader can go on after an error
 * Callers that report all errors of documents at once pass such a list. Other callers pass NULL: then the first
 * error ends the reading. A value with an error counts as missing, and the rest is read without it.
 * Invariant: an error is kept once, however often it is found. Beyond ERRS_MAX, errors are only counted. All lines
 * are kept.
 * Owner: the list's arena. Errors: none. Threads: one. Source: butane and terraform report all at once.
 * Tests: test_all_errors.py. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"
#include "nodeup/base/str.h"

enum { ERRS_MAX = 100 };

struct errs {
	struct arena *arena;
	struct err *v;
	size_t n, more;
	struct strv lines; /* errors that have only a message: there may be thousands */
	size_t apart;      /* number of kept errors that cannot hide other errors */
	bool is_vital; /* an error is about a value that every document needs, so no model is made */
};

/* If r is an error in a document, keeps it in l and returns 0: the caller goes on. Returns r if r is a success or an
 * error of another kind, or if l is NULL. */
int errs_keep(struct errs *l, int r, const struct err *e) must_check;
/* Keeps an error that hides no other error, like a version that is too old. */
int errs_keep_apart(struct errs *l, int r, const struct err *e) must_check;
/* Keeps an error that makes a model impossible. */
int errs_keep_vital(struct errs *l, int r, const struct err *e) must_check;
/* Keeps an error of any kind, in addition to an earlier one. */
void errs_keep_any(struct errs *l, const struct err *e);
/* Returns whether a kept error may hide others: a value that seems to be missing may have been refused. */
bool errs_any(const struct errs *l);
/* Returns whether an error was kept that makes a model impossible. */
bool errs_any_vital(const struct errs *l);
/* Returns the number of errors. */
size_t errs_count(const struct errs *l);
/* Adds to e how many other errors were kept. Notes each of them; a last note counts those without room. Does nothing
 * if there are no others. */
void errs_note_others(const struct errs *l, struct err *e);
