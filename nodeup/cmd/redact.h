/* redact.h - what of a text may leave this machine in a report
 * Fields of documents and lines of units go by lists of what may be shown: of all else only the length is shown. Of
 * free text, such as the journal, a line is hidden if it holds a secret that was learnt, or what looks like a token or
 * a PEM. URLs lose their login and query.
 * Bodies: redact.c, redact_field.c, redact_unit.c.
 * Owner: the arena. Errors: none. Threads: one.
 * Tests: cmd/test_redact.c, test_collect_logs.py. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/base/field.h"

struct redact;

/* Makes a redactor that knows no secret. */
struct redact *redact_new(struct arena *a);
/* Learns a secret text: its lines, and the words in them that a person or a program chose. */
void redact_learn(struct redact *r, const char *text);
/* Learns all scalars of a tree, also what they hold as base64. */
void redact_learn_tree(struct redact *r, const struct tree *t);
/* Does the same for a document that no table knows. A short word of it counts only below a secret's name, or in
 * `Data`. */
void redact_learn_document(struct redact *r, const struct tree *t);
/* Returns the line as it may be shown. Lines of one text come in their order, between two calls of redact_begin: a
 * PEM may have several. */
void redact_begin(struct redact *r);
const char *redact_line(struct redact *r, struct arena *a, const char *line);
/* Returns how many lines were hidden since redact_begin. */
size_t redact_hidden(const struct redact *r);
/* Appends each line of a text as it may be shown. */
void redact_text(struct redact *r, const char *text, struct buf *b);
/* Returns a copy of a tree of our own, without texts that may not be shown. */
struct tree *redact_tree(struct redact *r, struct arena *a, const struct tree *t);
/* Returns whether a value may be shown as it is. */
bool redact_is_open(struct redact *r, const char *value);
/* Returns a copy of a document's map: known keys without a secret, if their values have the row's type. Learns the
 * secrets. */
struct tree *redact_fields(struct redact *r, struct arena *a, const struct schema *s,
			   const struct tree *map);
/* Appends the lines of a unit file whose directives can hold no secret. Learns its variables. */
void redact_unit(struct redact *r, const char *text, struct buf *b);
