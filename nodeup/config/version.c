#include "nodeup/config/version.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool take_number(const char **p, int *ret)
{
	char *end;
	long v;

	if (!isdigit((unsigned char)**p))
		return false;
	v = strtol(*p, &end, 10);
	if (v > 9999)
		return false;
	*ret = (int)v;
	*p = end;
	return true;
}

/* "-beta.1", "+build"; what follows a '/' is the next part of a URL. */
static bool take_suffix(struct arena *a, const char *text, const char **ret)
{
	static const char semver[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "0123456789-+.";
	const size_t n = strcspn(text, "/");

	if (n && ((*text != '-' && *text != '+') || n == 1 || strspn(text, semver) < n))
		return false;
	*ret = arena_strn(a, text, n);
	return true;
}

bool version_parse(struct arena *a, const char *text, struct version *ret)
{
	struct version v = { 0 };

	if (*text == 'v')
		text++;
	if (!take_number(&text, &v.major) || *text++ != '.' || !take_number(&text, &v.minor))
		return false;
	if (*text == '.') {
		text++;
		if (!take_number(&text, &v.patch))
			return false;
	}
	if (!take_suffix(a, text, &v.suffix))
		return false;
	*ret = v;
	return true;
}

int version_of_toml(struct arena *a, const char *text)
{
	const struct strv lines = strv_split(a, text, '\n');

	for (size_t i = 0; i < lines.n; i++) {
		const char *line = str_trim(a, lines.v[i]);

		/* a key below a table is another one */
		if (*line == '[')
			return 0;
		if (str_has_prefix(line, "version") && strchr(line, '='))
			return (int)strtol(strchr(line, '=') + 1, NULL, 10);
	}
	return 0;
}
