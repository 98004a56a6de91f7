/* findings.h - what is wrong or odd in documents, as people, editors and build servers read it
 * A finding is an error or a warning with its place, which is taken out of the error's text. The text form shows the
 * line of the document and a caret below, as compilers do. GitHub's workflows make annotations of the form `github`.
 * Invariant: a line that may hold a password is never shown.
 * Owner: the arena. Errors: none of its own. Threads: one.
 * Source: GNU coding standards 4.4 (file:line:column: error:), GitHub's workflow commands.
 * Tests: test_validate.py, test_all_errors.py. */
#pragma once

#include "nodeup/base/errs.h"
#include "nodeup/base/tree.h"
#include "nodeup/documents/bootstrap.h"

struct finding {
	bool is_error, ends_it; /* ends_it: the program's last message repeats this finding */
	struct tree_pos pos; /* file NULL: the text has no place; line 0: only the file is known */
	const char *text;    /* the message without its place */
	struct strv notes;   /* "want      ..." */
	const char *line;    /* line of the document; NULL: not known, or not shown */
	size_t caret;        /* column of the caret in line, in characters */
	/* sorted by document, by place in the document, then as found; a finding without a place follows the one
	 * before it */
	size_t rank, order;
	struct tree_pos at;
};

struct findings {
	struct arena *arena;
	struct finding *v;
	size_t n, errors;
};

/* Appends errors and warnings about these documents, in the documents' order. The most important warning comes
 * first. */
void findings_add(struct findings *f, const struct errs *errors, const struct strv *warnings,
		  const struct bootstrap *b);
/* Appends an error that is not about a document; ends_it: see struct finding. */
void findings_add_other(struct findings *f, const struct err *e, bool ends_it);
/* Prints to stderr in the form of compilers, without the error that ends the program. If there are many warnings,
 * prints the most important ones and counts the others. */
void findings_print(const struct findings *f);
/* Prints to stdout: "::error file=x,line=1,col=2::text". */
void findings_print_github(const struct findings *f);
/* Returns a list of maps: severity, file, line, column, text, notes. */
struct tree *findings_tree(const struct findings *f);
