#include "units/unit.h"

#include <ctype.h>
#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/base/walk.h"

enum { FILE_MAX = 1 << 20 };

static const char *const folders[] = {
	"/etc/systemd/system",
	"/run/systemd/system",
	"/usr/local/lib/systemd/system",
	"/usr/lib/systemd/system",
};

struct strv unit_dropins(struct arena *a, int root_fd, const char *unit)
{
	struct strv paths = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		const char *folder = arena_printf(a, "%s/%s.d", folders[i], unit);
		const struct strv names = walk_list(a, root_fd, folder, ".conf");

		for (size_t k = 0; k < names.n; k++)
			strv_addf(a, &paths, "%s/%s", folder, names.v[k]);
	}
	return paths;
}

static void add_text(struct arena *a, int root_fd, const char *path, struct strmap *ret)
{
	const char *text = io_text(a, root_fd, path, FILE_MAX);

	if (text)
		strmap_set(a, ret, path, text);
}

/* Adds the files that lines such as "EnvironmentFile=-/etc/default/kubelet" name. */
static void add_files(struct arena *a, int root_fd, const char *text, struct strmap *ret)
{
	static const char key[] = "EnvironmentFile=";
	const struct strv lines = strv_split(a, text, '\n');

	for (size_t i = 0; i < lines.n; i++) {
		const char *path = str_trim(a, lines.v[i]);

		if (!str_has_prefix(path, key))
			continue;
		path += strlen(key);
		path += *path == '-';
		if (*path == '/')
			add_text(a, root_fd, path, ret);
	}
}

struct strmap unit_dropin_texts(struct arena *a, int root_fd, const char *unit)
{
	const struct strv paths = unit_dropins(a, root_fd, unit);
	struct strmap texts = { 0 };

	for (size_t i = 0; i < paths.n; i++)
		add_text(a, root_fd, paths.v[i], &texts);
	/* the environment files come after all drop-ins */
	for (size_t i = 0, n = texts.n; i < n; i++)
		add_files(a, root_fd, texts.v[i].value, &texts);
	return texts;
}

static char *put_hex(char *p, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";

	*p++ = '\\';
	*p++ = 'x';
	*p++ = hex[c >> 4];
	*p++ = hex[c & 15];
	return p;
}

/* Writes one byte of an Exec= argument. systemd undoes three layers: first quotes, then % specifiers, then $
 * variables. If `literal`, escapes % and $ too. */
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
	/* quotes a lone ;, which would separate two commands */
	return quote(a, arg, *arg == '\0' || strchr(arg, ' ') || strcmp(arg, ";") == 0, true);
}

char *unit_quote_as_kops(struct arena *a, const char *word)
{
	return quote(a, word, strchr(word, ' '), false);
}

/* Skips slashes and "." components; a unit's name leaves them out. */
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

	/* Between double quotes a line break stands for itself, and these four characters need a backslash. */
	for (; *value; value++) {
		if (strchr("\"\\`$", *value))
			*p++ = '\\';
		*p++ = *value;
	}
	(void)stpcpy(p, "\"\n");
	return text;
}
