/* show.h - the one way of text to a person: a terminal, a pipe, the journal
 * What documents, servers and tools say is shown among our own words. None of it may move a cursor, set
 * a title, turn the direction of writing or begin a line of its own.
 * Invariant: what is shown holds no control character of ASCII or Unicode and no byte that is not UTF-8:
 * each is a '?' instead. JSON escapes them and goes the same way unharmed.
 * Owner: the caller's text. Errors: none but of JSON beyond 16 MiB; a stream that fails is ignored. Threads: all functions.
 * Source: ECMA-48, Unicode's categories Cc and Cf (what has to do with direction, and line breaks).
 * Tests: test_show.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include "nodeup/base/err.h"

struct tree;

/* Make it harmless in place, line breaks and all but the tab; it may get shorter. Returns text. */
char *show_clean(char *text);
/* The same of prose of a server, whose line breaks become blanks. */
char *show_prose(char *text);
/* Returns whether it is harmless as it stands. */
bool show_is_clean(const char *text);
/* Writes one line and its end on stdout or stderr. On stderr, what stdout has so far comes before it. */
void show_line(FILE *to, const char *fmt, ...) printf_like(2, 3);
/* One line that begins with a sign of ours; colour: that sign's, as ECMA-48 counts them ("32"), or NULL. */
void show_signed(FILE *to, const char *indent, const char *colour, char sign, const char *text);
/* Text of several lines, whose breaks stay, on stdout; nothing is added. */
void show_text(const char *text, size_t n);
/* Writes bytes as they are on stdout: they are a file for another program. */
void show_bytes(const void *data, size_t n);
/* A tree as indented JSON, on stdout. */
int show_json(const struct tree *t, struct err *e) must_check;
