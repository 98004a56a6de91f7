/* show.h - the only way in which text reaches people: a terminal, a pipe, the journal
 * Texts of documents, servers and tools appear among our own words. No such text may move a cursor, set a title,
 * turn the direction of writing or begin a line of its own.
 * Invariant: a shown text holds no control character of ASCII or Unicode and no byte that is not UTF-8: each becomes
 * a '?'. JSON passes unchanged, since it escapes such characters itself.
 * Owner: the caller's text. Errors: only for JSON beyond 16 MiB; a stream that fails is ignored. Threads: all
 * functions.
 * Source: ECMA-48, Unicode's categories Cc and Cf (those of direction, and line breaks).
 * Tests: test_show.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "nodeup/base/err.h"

struct tree;

/* Makes text harmless in place: line breaks and all other control characters except the tab become '?'. The text may
 * get shorter. Returns text. */
char *show_clean(char *text);
/* Like show_clean, for a server's prose: its line breaks become blanks. */
char *show_prose(char *text);
/* Returns whether the text is harmless already. */
bool show_is_clean(const char *text);
/* Writes one line with its end to stdout or stderr. On stderr it flushes stdout first. */
void show_line(FILE *to, const char *fmt, ...) printf_like(2, 3);
/* Writes one line that begins with a sign of nodeup's own. colour: the sign's colour in ECMA-48 ("32"), or NULL. */
void show_signed(FILE *to, const char *indent, const char *colour, char sign, const char *text);
/* Writes text of several lines to stdout, with its line breaks; adds nothing. */
void show_text(const char *text, size_t n);
/* Writes bytes unchanged to stdout: they are a file for another program. */
void show_bytes(const void *data, size_t n);
/* Writes a tree as indented JSON to stdout. */
int show_json(const struct tree *t, struct err *e) must_check;
