/* lex.h - a template's text as data and tokens
 * Text outside of tags is data, up to the next tag. Text inside a tag is tokens, up to the tag's end. A '-' in a tag
 * takes white space out of the data beside it. Comments are left out.
 * Owner: the arena for strings with escapes; all else borrows the text. Errors: CONFIG with the place.
 * Source: Jinja 2.7.3, jinja2/lexer.py.
 * Tests: test_template.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/template/source.h"

enum token_kind {
	T_TAG_END, /* %} or }} */
	T_NAME,
	T_TEXT,
	T_INT,
	T_FLOAT,
	T_SIGN, /* an operator or a bracket, longest first */
};

struct token {
	enum token_kind kind;
	size_t at;
	const char *p; /* the text as written; in a T_TEXT without quotes and escapes */
	size_t n;
	int64_t i;
	double f;
};

enum piece_kind { PIECE_DATA, PIECE_STATEMENT, PIECE_VALUE, PIECE_END };

struct piece {
	enum piece_kind kind;
	size_t at;
	const char *p; /* the text of a PIECE_DATA */
	size_t n;
};

struct lex {
	struct arena *a;
	const struct source *source;
	size_t at;
	bool trims;       /* the tag before ended in '-' */
	struct piece tag; /* the tag that is being read */
	size_t open;      /* open brackets; no tag ends inside one */
};

/* Reads the next piece of the text. For a statement or a value, its tokens follow. */
int lex_piece(struct lex *l, struct piece *ret) must_check;
/* Reads the next token of the tag. */
int lex_token(struct lex *l, struct token *ret) must_check;
