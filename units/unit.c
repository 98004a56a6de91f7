#include "units/unit.h"

#include <ctype.h>
#include <string.h>

static char *put_hex(char *p, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	*p++ = '\\';
	*p++ = 'x';
	*p++ = hex[c >> 4];
	*p++ = hex[c & 15];
	return p;
}

/* One byte of an Exec= argument. systemd undoes three layers: the quoting, then % specifiers, then $ variables.
 * literal: the last two are answered, too. */
static char *put_quoted(char *p, unsigned char c, bool literal)
{
	if (c == '"' || c == '\'' || c == '\\')
		*p++ = '\\';
	else if (literal && (c == '$' || c == '%'))
		*p++ = (char)c;
	else if (c != ' ' && (!isascii(c) || !isgraph(c)))
		return put_hex(p, c);
	*p++ = (char)c;
	return p;
}

static char *quote(struct arena *a, const char *arg, bool quotes, bool literal)
{
	char *text = arena_alloc(a, 4 * strlen(arg) + sizeof("\"\""));
	char *p = text;

	if (quotes)
		*p++ = '"';
	for (; *arg; arg++)
		p = put_quoted(p, (unsigned char)*arg, literal);
	if (quotes)
		*p++ = '"';
	return text;
}

char *unit_quote(struct arena *a, const char *arg)
{
	/* A lone ; would separate two commands. */
	return quote(a, arg, *arg == '\0' || strchr(arg, ' ') || strcmp(arg, ";") == 0, true);
}

char *unit_quote_as_kops(struct arena *a, const char *word)
{
	return quote(a, word, strchr(word, ' '), false);
}

/* Step over slashes and "." components; they do not count in a unit's name. */
static const char *skip_slashes(const char *p)
{
	for (;;) {
		if (*p == '/')
			p++;
		else if (p[0] == '.' && (p[1] == '/' || p[1] == '\0'))
			p++;
		else
			return p;
	}
}

char *unit_escape_path(struct arena *a, const char *path)
{
	char *text = arena_alloc(a, 4 * strlen(path) + sizeof("-"));
	const char *in = skip_slashes(path);
	char *p = text;

	if (*in == '\0')
		*p++ = '-';
	while (*in) {
		unsigned char c = (unsigned char)*in;

		if (c == '/') {
			in = skip_slashes(in);
			if (*in)
				*p++ = '-';
			continue;
		}
		/* A name that begins with a dot would be a hidden file. */
		if ((isascii(c) && isalnum(c)) || c == '_' || c == ':' || (c == '.' && p != text))
			*p++ = (char)c;
		else
			p = put_hex(p, c);
		in++;
	}
	return text;
}

char *unit_env_line(struct arena *a, const char *key, const char *value)
{
	char *text = arena_alloc(a, strlen(key) + 2 * strlen(value) + sizeof("=\"\"\n"));
	char *p = stpcpy(stpcpy(text, key), "=\"");

	/* Within double quotes a line break stands for itself, and these four need a backslash. */
	for (; *value; value++) {
		if (strchr("\"\\`$", *value))
			*p++ = '\\';
		*p++ = *value;
	}
	(void)stpcpy(p, "\"\n");
	return text;
}
