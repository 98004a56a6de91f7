/* findings.h - what is wrong or odd in documents, as people, editors and build servers read it
 * A finding is an error or a warning with its place, taken out of the text that says it. In a text it
 * stands with the line of the document and a caret below, as compilers do; `github` is what GitHub's
 * workflows make annotations of.
 * Invariant: a line that may hold a password is never shown.
 * Owner: the arena. Errors: none of its own. Threads: one.
 * Source: GNU coding standards 4.4 (file:line:column: error:), GitHub's workflow commands.
 * Tests: test_validate.py, test_all_errors.py. */
#pragma once

#include "nodeup/base/errs.h"
#include "nodeup/base/tree.h"
#include "nodeup/documents/bootstrap.h"

struct finding {
	bool is_error, ends_it; /* ends_it: the program's last words say it as well */
	struct tree_pos pos;    /* file NULL: the text has no place; line 0: the file alone */
	const char *text;       /* without the place */
	struct strv notes;      /* "want      ..." */
	const char *line;       /* of the document, or NULL: it is not known or not shown */
	size_t caret;           /* where in line, in characters */
	/* which document, the place in it, and as it was found; without a place, those of the one before */
	size_t rank, order;
	struct tree_pos at;
};

struct findings {
	struct arena *arena;
	struct finding *v;
	size_t n, errors;
};

/* Append errors and warnings about these documents, sorted as they stand in them. What matters most is the first of warnings. */
void findings_add(struct findings *f, const struct errs *errors, const struct strv *warnings,
		  const struct bootstrap *b);
/* An error that is not of a document; ends_it as in a finding. */
void findings_add_other(struct findings *f, const struct err *e, bool ends_it);
/* On stderr, as compilers say it; all but what ends the program. Of many warnings those that matter most come first, and the
 * others are counted. */
void findings_print(const struct findings *f);
/* On stdout: "::error file=x,line=1,col=2::text". */
void findings_print_github(const struct findings *f);
/* A list of maps: severity, file, line, column, text, notes. */
struct tree *findings_tree(const struct findings *f);
