#include "nodeup/config/node.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool node_k8s_at_least(const struct node *n, int major, int minor)
{
	return n->kubernetes.major != major ? n->kubernetes.major > major
					    : n->kubernetes.minor >= minor;
}

const char node_master_pd[] = "/mnt/master-pd";

/* Returns whether a value begins like a word that Go reads as false: "--fail-swap-on=false", "failSwapOn: 0". */
static bool is_false(const char *p, const char *end)
{
	while (p < end && memchr("\"'=: \t", *p, 6))
		p++;
	return p < end && memchr("fF0", *p, 3);
}

bool node_takes_swap(const char *text, size_t n)
{
	static const char program[] = "swapoff";
	static const char *const keys[] = { "fail-swap-on", "failSwapOn" };
	const char *end = text + n, *p;

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		for (p = text; (p = memmem(p, (size_t)(end - p), keys[i], strlen(keys[i])));) {
			p += strlen(keys[i]);
			if (is_false(p, end))
				return true;
		}
	return memmem(text, n, program, strlen(program));
}

void node_proxy_variables(struct arena *a, const struct node_proxy *proxy, struct strmap *ret)
{
	const char *const names[] = { "http_proxy", "https_proxy", "NO_PROXY", "no_proxy" };

	for (size_t i = 0; proxy->url && i < ARRAY_LEN(names); i++)
		strmap_set(a, ret, names[i], i < 2 ? proxy->url : proxy->excludes);
}

const struct node_file *node_files_find(const struct node_files *files, const char *path)
{
	for (size_t i = 0; files && i < files->n; i++)
		if (str_eq(files->v[i].path, path))
			return &files->v[i];
	return NULL;
}

const struct node_keypair *node_keypair(const struct node *n, const char *name)
{
	for (size_t i = 0; i < n->keypairs.n; i++)
		if (strcmp(n->keypairs.v[i].name, name) == 0)
			return &n->keypairs.v[i];
	return NULL;
}

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

/* Reads "-beta.1" or "+build"; a '/' ends it, as the next part of a URL follows. */
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

		/* a table begins here: a key below it is not the file's own version */
		if (*line == '[')
			return 0;
		if (str_has_prefix(line, "version") && strchr(line, '='))
			return (int)strtol(strchr(line, '=') + 1, NULL, 10);
	}
	return 0;
}
