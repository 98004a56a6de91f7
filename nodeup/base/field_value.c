#include "nodeup/base/field_value.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t field_row(const struct schema *s, const char *key)
{
	size_t other = s->n;

	for (size_t i = 0; i < s->n; i++) {
		if (strcmp(s->fields[i].key, key) == 0)
			return i;
		if (other == s->n && strcasecmp(s->fields[i].key, key) == 0)
			other = i;
	}
	return other;
}

const char *field_path(struct arena *a, const char *path, const char *key)
{
	return str_is_empty(path) ? key : arena_printf(a, "%s.%s", path, key);
}

const char *field_text(const struct tree *t)
{
	if (t->kind == TREE_NULL)
		return "";
	if (!t->quoted && tree_type_of(t->scalar) == TREE_IS_BOOL)
		return tree_is_true(t->scalar) ? "true" : "false";
	return t->scalar;
}

int field_integer(const struct tree *t, int64_t *ret)
{
	char digits[24];
	size_t n = 0;
	int base = 0;

	if (t->kind != TREE_SCALAR || t->quoted || tree_type_of(t->scalar) != TREE_IS_INT)
		return -EINVAL;
	for (const char *c = t->scalar; *c && n < sizeof(digits) - 1; c++)
		if (*c != '_' && !(*c == '+' && n == 0))
			digits[n++] = *c;
	digits[n] = '\0';
	/* strtoll does not recognise base 2 itself */
	if (strncmp(digits + (*digits == '-'), "0b", 2) == 0) {
		digits[*digits == '-'] = '0';
		digits[1 + (*digits == '-')] = '0';
		base = 2;
	}
	errno = 0;
	*ret = strtoll(digits, NULL, base);
	return errno ? -ERANGE : 0;
}

const char *field_found(struct arena *a, const struct tree *t, bool quotable)
{
	if (t->kind == TREE_MAP)
		return "a map";
	if (t->kind == TREE_SEQ)
		return "a list";
	if (t->kind == TREE_NULL)
		return "nothing";
	/* a message is one line */
	if (!quotable || !str_is_line(t->scalar))
		return "a text";
	return arena_printf(a, "'%.60s'%s", t->scalar,
			    t->quoted && tree_type_of(t->scalar) != TREE_IS_STRING ? " in quotes"
										   : "");
}

bool field_says_nothing(const struct tree *t)
{
	return t->n == 0 && str_is_empty(t->scalar);
}

const char *field_versions(struct arena *a, unsigned int since, unsigned int until)
{
	const char *first = since ? arena_printf(a, " (since Kubernetes 1.%u)", since) : "";

	return until ? arena_printf(a, "%s (until Kubernetes 1.%u)", first, until) : first;
}
