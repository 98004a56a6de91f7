#include "nodeup/base/show.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/json.h"

enum { JSON_MAX = 16 << 20 };

/* Returns the length of the UTF-8 character at s, and the character in *ret; 0: the bytes are no UTF-8 character. */
static size_t read_char(const unsigned char *s, size_t n, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const size_t len = *s < 0x80       ? 1
			   : *s >> 5 == 6  ? 2
			   : *s >> 4 == 14 ? 3
			   : *s >> 3 == 30 ? 4
					   : 0;
	uint32_t c = len == 1 ? *s : *s & (0x7fu >> len);

	if (len == 0 || len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if (s[i] >> 6 != 2)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	*ret = c;
	return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : len;
}

static bool is_harmless(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} bad[] = {
		{ 0x00, 0x08 },     { 0x0a, 0x1f },     /* all control characters except the tab */
		{ 0x7f, 0x9f },     { 0x061c, 0x061c }, /* C1; direction marks */
		{ 0x200e, 0x200f }, { 0x2028, 0x202e }, /* line breaks, embeddings, overrides */
		{ 0x2066, 0x2069 }, { 0xfeff, 0xfeff }, /* isolates; byte order mark */
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (c >= bad[i].first && c <= bad[i].last)
			return false;
	return true;
}

/* Cleans n bytes in place. Returns how many bytes remain. */
static size_t clean(char *text, size_t n, bool breaks)
{
	size_t kept = 0;

	for (size_t i = 0; i < n;) {
		uint32_t c = 0;
		const size_t len = read_char((const unsigned char *)text + i, n - i, &c);

		if (len && ((breaks && c == '\n') || is_harmless(c))) {
			memmove(text + kept, text + i, len);
			kept += len;
		} else {
			text[kept++] = '?';
		}
		i += len ? len : 1;
	}
	return kept;
}

char *show_clean(char *text)
{
	text[clean(text, strlen(text), false)] = '\0';
	return text;
}

char *show_prose(char *text)
{
	for (char *p = text; *p; p++)
		if (isspace((unsigned char)*p))
			*p = ' ';
	return show_clean(text);
}

bool show_is_clean(const char *text)
{
	autofree char *copy = xstrdup(text);

	return strcmp(show_clean(copy), text) == 0;
}

void show_line(FILE *to, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	if (to == stderr)
		(void)fflush(stdout);
	(void)fputs(show_clean(text), to);
	(void)fputc('\n', to);
}

void show_signed(FILE *to, const char *indent, const char *colour, char sign, const char *text)
{
	autofree char *mark = colour ? xasprintf("%s\033[%sm%c\033[0m", indent, colour, sign)
				     : xasprintf("%s%c", indent, sign);

	(void)fputs(mark, to);
	show_line(to, "%s", text);
}

void show_text(const char *text, size_t n)
{
	autofree char *copy = xrealloc(NULL, n + 1);

	memcpy(copy, text, n);
	(void)fwrite(copy, 1, clean(copy, n, true), stdout);
}

void show_bytes(const void *data, size_t n)
{
	(void)fwrite(data, 1, n, stdout);
}

int show_json(const struct tree *t, struct err *e)
{
	autobuf struct buf b = BUF_INIT(JSON_MAX);
	int r = json_render(t, true, &b, e);

	if (r < 0)
		return r;
	(void)buf_addc(&b, '\n');
	show_text(buf_str(&b), b.len);
	return 0;
}
