/* heredoc.h - the document that a boot script writes from a here-document
 * Reads `cat > kube_env.yaml << MARK`, with the mark in quotes or not, up to a line that holds only the mark.
 * Invariant: pure; text that the booting shell would expand is refused, so the result is what the machine gets.
 * Owner: the arena. Errors: CONFIG, with file:line:column; no message shows the text, which may be a secret.
 * Threads: all functions. Source: bash(1), Here Documents.
 * Tests: test_user_data.c. */
#pragma once

#include "nodeup/base/tree.h"

struct heredoc {
	const char *name; /* the word after the command that reads the text */
	const char *text; /* text of the document, in the script */
	size_t n;
	unsigned int line; /* line of the script where the text begins */
	bool quoted;       /* the mark is quoted, so the shell expands nothing */
};

/* Finds the first here-document that ends with one of the marks; marks ends with NULL. Sets no name. -ENOENT: there
 * is no such document. */
int heredoc_find(struct arena *a, const char *file, const char *text, const char *const *marks,
		 struct heredoc *ret, struct err *e) must_check;
/* Finds all here-documents that a command reads, as in `put NAME <<MARK`, in their order. */
int heredoc_all(struct arena *a, const char *file, const char *text, const char *command,
		struct heredoc **ret, size_t *ret_n, struct err *e) must_check;
/* Returns the here-document's text, with empty lines before it so that its lines keep their numbers. `place`: path
 * of the document on the machine, for a message. */
int heredoc_take(struct arena *a, const char *file, const struct heredoc *h, const char *place,
		 const char **ret, struct err *e) must_check;
