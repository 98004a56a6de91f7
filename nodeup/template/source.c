#include "nodeup/template/source.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static bool is_inner(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

int source_fail(const struct source *s, size_t at, const char *fmt, ...)
{
	size_t line = 1, column = 1;
	autofree char *message = NULL;
	va_list ap;

	for (size_t i = 0; i < at && i < s->n; i++) {
		if (s->text[i] == '\n') {
			line++;
			column = 1;
		} else if (!is_inner((unsigned char)s->text[i])) {
			column++;
		}
	}
	va_start(ap, fmt);
	message = xvasprintf(fmt, ap);
	va_end(ap);
	return err_config(s->e, "%s:%zu:%zu: %s", s->file, line, column, message);
}

/* Decodes the code point at p and its length in bytes; length 0: not UTF-8. */
static size_t code_point(const unsigned char *p, size_t n, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const size_t length = p[0] < 0x80         ? 1
			      : p[0] >> 5 == 0x6  ? 2
			      : p[0] >> 4 == 0xe  ? 3
			      : p[0] >> 3 == 0x1e ? 4
						  : 0;
	uint32_t c;

	if (length == 0 || length > n)
		return 0;
	c = length == 1 ? p[0] : p[0] & (0x7f >> length);
	for (size_t i = 1; i < length; i++) {
		if (!is_inner(p[i]))
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*ret = c;
	return length;
}

/* Returns whether a template may not have the character: it is a control character, or a line break other than a
 * newline. */
static bool is_strange(uint32_t c)
{
	return (c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x2028 ||
	       c == 0x2029;
}

int source_check(const struct source *s)
{
	size_t step;

	for (size_t at = 0; at < s->n; at += step) {
		uint32_t c = 0;

		step = code_point((const unsigned char *)s->text + at, s->n - at, &c);
		if (step == 0)
			return source_fail(s, at, "this is not UTF-8");
		if (is_strange(c))
			return source_fail(s, at, "a control character (U+%04X)", (unsigned int)c);
	}
	return 0;
}
