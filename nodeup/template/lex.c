#include "nodeup/template/lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns the byte at that distance, or NUL at the end; the text itself holds no NUL. */
static char peek(const struct lex *l, size_t on)
{
	return l->at + on < l->source->n ? l->source->text[l->at + on] : '\0';
}

static void skip_space(struct lex *l)
{
	while (is_space(peek(l, 0)))
		l->at++;
}

static int skip_comment(struct lex *l)
{
	const size_t begin = l->at;
	const char *const text = l->source->text;
	const char *end;

	l->at += 2;
	if (peek(l, 0) == '-')
		l->at++;
	end = memmem(text + l->at, l->source->n - l->at, "#}", 2);
	if (!end)
		return source_fail(l->source, begin, "this comment has no end");
	l->trims = end > text + l->at && end[-1] == '-';
	l->at = (size_t)(end - text) + 2;
	return 0;
}

/* Returns whether a tag of any kind begins here. */
static bool is_tag(const struct lex *l)
{
	return peek(l, 0) == '{' && (peek(l, 1) == '%' || peek(l, 1) == '{' || peek(l, 1) == '#');
}

/* Takes the text up to the next tag or the end. */
static void take_data(struct lex *l, struct piece *ret)
{
	const char *const text = l->source->text;
	size_t end;

	*ret = (struct piece){ .kind = PIECE_DATA, .at = l->at, .p = text + l->at };
	while (l->at < l->source->n && !is_tag(l)) {
		const char *const brace = memchr(text + l->at + 1, '{', l->source->n - l->at - 1);

		l->at = brace ? (size_t)(brace - text) : l->source->n;
	}
	end = l->at;
	if (is_tag(l) && peek(l, 2) == '-')
		while (end > ret->at && is_space(text[end - 1]))
			end--;
	ret->n = end - ret->at;
}

int lex_piece(struct lex *l, struct piece *ret)
{
	for (;;) {
		if (l->trims)
			skip_space(l);
		l->trims = false;
		if (!is_tag(l)) {
			*ret = (struct piece){ .kind = PIECE_END, .at = l->at };
			if (l->at == l->source->n)
				return 0;
			take_data(l, ret);
			if (ret->n)
				return 0;
		} else if (peek(l, 1) == '#') {
			if (skip_comment(l) < 0)
				return -EINVAL;
		} else {
			break;
		}
	}
	*ret = (struct piece){ .kind = peek(l, 1) == '%' ? PIECE_STATEMENT : PIECE_VALUE,
			       .at = l->at };
	l->tag = *ret;
	l->open = 0;
	l->at += peek(l, 2) == '-' ? 3 : 2;
	return 0;
}

/* If the tag ends here, skips its end and returns true. */
static bool take_end(struct lex *l)
{
	const size_t minus = peek(l, 0) == '-';

	if (l->open || peek(l, minus) != (l->tag.kind == PIECE_VALUE ? '}' : '%') ||
	    peek(l, minus + 1) != '}')
		return false;
	l->at += minus + 2;
	l->trims = minus;
	return true;
}

static int take_number(struct lex *l, struct token *t)
{
	const char *digits;

	while (is_digit(peek(l, 0)))
		l->at++;
	t->kind = T_INT;
	if (peek(l, 0) == '.' && is_digit(peek(l, 1))) {
		t->kind = T_FLOAT;
		for (l->at++; is_digit(peek(l, 0));)
			l->at++;
	}
	t->n = l->at - t->at;
	if (is_word(peek(l, 0)))
		return source_fail(l->source, l->at, "'%c' after a number", peek(l, 0));
	digits = arena_strn(l->a, t->p, t->n);
	errno = 0;
	if (t->kind == T_INT)
		t->i = strtoll(digits, NULL, 10);
	else
		t->f = strtod(digits, NULL);
	if (errno)
		return source_fail(l->source, t->at, "this number is too large");
	return 0;
}

/* Writes a code point as UTF-8. */
static size_t put_code_point(char *to, uint32_t c)
{
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | c >> 18);
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

/* Reads digits of a base, between `least` and `most` of them. Returns the number of digits, or 0 if there are too
 * few. */
static size_t take_digits(const struct lex *l, size_t from, unsigned int base, size_t least,
			  size_t most, uint32_t *ret)
{
	static const char digits[] = "0123456789abcdef";
	size_t n = 0;

	for (*ret = 0; n < most; n++) {
		const char c = peek(l, from + n);
		const char *const digit = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c)
					    : NULL;

		if (!digit || digit >= digits + base)
			break;
		*ret = *ret * base + (uint32_t)(digit - digits);
	}
	return n < least ? 0 : n;
}

/* Decodes the escape at a backslash into `to`, which has room for as many bytes as the escape. */
static int take_escape(struct lex *l, char **to)
{
	static const char named[] = "\\\\''\"\"a\ab\bf\fn\nr\rt\tv\v";
	const char c = peek(l, 1);
	const size_t numbered = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
	uint32_t code;
	size_t n;

	for (size_t i = 0; named[i]; i += 2)
		if (c == named[i]) {
			*(*to)++ = named[i + 1];
			l->at += 2;
			return 0;
		}
	if (c == '\n') {
		l->at += 2;
		return 0;
	}
	if (c == 'N' || (unsigned char)c >= 0x80)
		return source_fail(l->source, l->at, "this escape is not in the grammar");
	n = numbered ? take_digits(l, 2, 16, numbered, numbered, &code)
		     : take_digits(l, 1, 8, 1, 3, &code);
	if (n == 0 && !numbered) {
		/* a backslash before any other character is itself */
		*(*to)++ = '\\';
		l->at++;
		return 0;
	}
	if (n == 0 || code == 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return source_fail(l->source, l->at, "this escape is not a character");
	l->at += n + (numbered ? 2 : 1);
	*to += put_code_point(*to, code);
	return 0;
}

static int take_text(struct lex *l, struct token *t)
{
	const char quote = peek(l, 0);
	size_t end = l->at + 1;
	bool escapes = false;
	char *to;

	for (; end < l->source->n && l->source->text[end] != quote; end++)
		if (l->source->text[end] == '\\') {
			escapes = true;
			end++;
		}
	if (end >= l->source->n)
		return source_fail(l->source, l->at, "this text has no end");
	t->kind = T_TEXT;
	l->at++;
	t->p = l->source->text + l->at;
	t->n = end - l->at;
	if (escapes) {
		t->p = to = arena_alloc(l->a, t->n);
		while (l->at < end) {
			if (peek(l, 0) != '\\')
				*to++ = l->source->text[l->at++];
			else if (take_escape(l, &to) < 0)
				return -EINVAL;
		}
		t->n = (size_t)(to - t->p);
	}
	l->at = end + 1;
	return 0;
}

static int take_sign(struct lex *l, struct token *t)
{
	static const char *const pairs[] = { "==", "!=", ">=", "<=", "//", "**" };
	const char c = peek(l, 0);

	t->n = 1;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (c == pairs[i][0] && peek(l, 1) == pairs[i][1])
			t->n = 2;
	if (t->n == 1 && !strchr("+-/*%~[](){}><=.:|,;", c))
		return source_fail(l->source, l->at, "a character that means nothing here");
	if (strchr("([{", c))
		l->open++;
	else if (strchr(")]}", c) && l->open == 0)
		return source_fail(l->source, l->at, "'%c' closes nothing", c);
	else if (strchr(")]}", c))
		l->open--;
	t->kind = T_SIGN;
	l->at += t->n;
	return 0;
}

int lex_token(struct lex *l, struct token *ret)
{
	char c;

	skip_space(l);
	c = peek(l, 0);
	*ret = (struct token){ .at = l->at, .p = l->source->text + l->at };
	if (l->at == l->source->n)
		return source_fail(l->source, l->tag.at, "this tag has no end");
	if (take_end(l)) {
		ret->kind = T_TAG_END;
		return 0;
	}
	if (is_digit(c))
		return take_number(l, ret);
	if (c == '\'' || c == '"')
		return take_text(l, ret);
	if (!is_word(c))
		return take_sign(l, ret);
	while (is_word(peek(l, 0)))
		l->at++;
	ret->kind = T_NAME;
	ret->n = l->at - ret->at;
	return 0;
}
