/* errs.h - errors that are kept, so that a reader goes on to the next
 * Who tells all that is wrong with documents at once has such a list. Other callers pass NULL: then the first error ends the
 * reading, as always. A value with an error counts as left out, and the rest is read as a document without it.
 * Invariant: an error is kept once, however often it is found; of very many the others are counted. Lines are all kept.
 * Owner: the list's arena. Errors: none. Threads: one. Source: butane and terraform tell all at once.
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
	struct strv lines; /* errors that are a message alone: there may be thousands */
	size_t apart;      /* of them all, those that hide nothing of the rest */
	bool is_vital; /* one is of what no document may leave out: nothing is made of the rest */
};

/* Keep what r stands for, an error of a document, in l, and return 0: the caller goes on. A
 * success, an error of another kind, or a list that is NULL gives r again. */
int errs_keep(struct errs *l, int r, const struct err *e) must_check;
/* Keep in the same way one that leaves all else as it is, like a version that is too old. */
int errs_keep_apart(struct errs *l, int r, const struct err *e) must_check;
/* The same of one without which there is no model of the rest. */
int errs_keep_vital(struct errs *l, int r, const struct err *e) must_check;
/* Keep one of any kind, behind another. */
void errs_keep_any(struct errs *l, const struct err *e);
/* Returns whether one was kept that may hide more: what is missing now may be what could not be read. */
bool errs_any(const struct errs *l);
/* Returns whether one was kept without which there is no model. */
bool errs_any_vital(const struct errs *l);
/* Returns how many there are. */
size_t errs_count(const struct errs *l);
/* Say in e how many others there are, and note each of them, or how many have no room. Nothing where there is none. */
void errs_note_others(const struct errs *l, struct err *e);
