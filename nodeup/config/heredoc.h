/* heredoc.h - the document that a boot script writes from a here-document
 * `cat > kube_env.yaml << MARK`, the mark in quotes or not, up to a line that is the mark alone.
 * Invariant: pure; what the booting shell would expand is refused, so that the text is what the machine gets.
 * Owner: the arena. Errors: CONFIG, with file:line:column; no message shows the text, which may be a secret.
 * Threads: all functions. Source: bash(1), Here Documents.
 * Tests: test_user_data.c. */
#pragma once

#include "nodeup/base/tree.h"

struct heredoc {
	const char *name; /* what is named behind the command that reads it; heredoc_find: NULL */
	const char *text; /* in the script */
	size_t n;
	unsigned int line; /* of the script, where the text begins */
	bool quoted;       /* the shell expands nothing in it */
};

/* The first here-document that one of the marks ends; marks is NULL-terminated. -ENOENT: there is none. */
int heredoc_find(struct arena *a, const char *file, const char *text, const char *const *marks,
		 struct heredoc *ret, struct err *e) must_check;
/* All that a command reads, as in `put NAME <<MARK`, in their order. */
int heredoc_all(struct arena *a, const char *file, const char *text, const char *command,
		struct heredoc **ret, size_t *ret_n, struct err *e) must_check;
/* Its text, whose lines keep their numbers by empty ones before it. `place`: where the machine has it, for a message. */
int heredoc_take(struct arena *a, const char *file, const struct heredoc *h, const char *place,
		 const char **ret, struct err *e) must_check;
