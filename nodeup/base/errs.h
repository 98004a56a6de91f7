/* errs.h - errors that are kept, so that a reader goes on to the next
 * A checker of documents tells all that is wrong with them at once. Other callers pass NULL for the
 * list: then the first error ends the reading, as always.
 * Invariant: an error is kept once, however often it is found; of very many the others are counted. Lines are all kept.
 * Owner: the list's arena. Errors: none. Threads: one. Source: butane and terraform tell all at once. */
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
};

/* Keep what r stands for, an error of a document, in l, and return 0: the caller goes on. A
 * success, an error of another kind, or a list that is NULL gives r again. */
int errs_keep(struct errs *l, int r, const struct err *e) must_check;
/* Keep in the same way one that leaves all else as it is, like a version that is too old. */
int errs_keep_apart(struct errs *l, int r, const struct err *e) must_check;
/* Whether one was kept that may hide more: what is missing now may be what could not be read. */
bool errs_any(const struct errs *l);
/* Returns how many there are. */
size_t errs_count(const struct errs *l);
