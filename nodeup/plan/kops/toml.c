#include "nodeup/plan/kops/toml.h"

#include <string.h>
#include "nodeup/base/buf.h"

enum { TEXT_MAX = 4 << 20 };

void toml_set(struct arena *a, struct tree *table, const struct strv *path, struct tree *value)
{
	for (size_t i = 0; i + 1 < path->n; i++) {
		struct tree *below = tree_get(table, path->v[i]);

		if (!below) {
			below = tree_map(a);
			(void)tree_set(a, table, path->v[i], below);
		}
		if (below->kind == TREE_MAP)
			table = below;
	}
	(void)tree_set(a, table, path->v[path->n - 1], value);
}

static void add_string(struct buf *b, const char *text)
{
	static const char special[] = "\b\t\n\f\r\"\\", letters[] = "btnfr\"\\";

	(void)buf_addc(b, '"');
	for (; *text; text++) {
		const char *at = strchr(special, *text);

		if (at)
			(void)buf_addf(b, "\\%c", letters[at - special]);
		else if ((unsigned char)*text < ' ')
			(void)buf_addf(b, "\\u%04X", (unsigned int)*text);
		else
			(void)buf_addc(b, *text);
	}
	(void)buf_addc(b, '"');
}

const char *toml_string(struct arena *a, const char *text)
{
	autobuf struct buf b = BUF_INIT(TEXT_MAX);

	add_string(&b, text);
	return arena_str(a, buf_str(&b));
}

static const char *key_text(struct arena *a, const char *key)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "0123456789_-";
	const size_t n = strlen(key);

	/* a key that comes in quotes keeps them, as in kops */
	if (n >= 2 && key[0] == '"' && key[n - 1] == '"')
		return key;
	return n && strspn(key, bare) == n ? key : toml_string(a, key);
}

static struct strv sorted_keys(struct arena *a, const struct tree *table, bool tables)
{
	struct strv keys = { 0 };

	for (size_t i = 0; i < table->n; i++)
		if ((table->items[i].value->kind == TREE_MAP) == tables)
			strv_add(a, &keys, table->items[i].key);
	strv_sort(&keys);
	return keys;
}

static void add_table(struct arena *a, struct buf *b, const struct tree *table, int indent,
		      const char *place)
{
	const struct strv values = sorted_keys(a, table, false),
			  tables = sorted_keys(a, table, true);

	for (size_t i = 0; i < values.n; i++) {
		const struct tree *value = tree_get(table, values.v[i]);

		(void)buf_addf(b, "%*s%s = ", indent, "", key_text(a, values.v[i]));
		if (value->quoted)
			add_string(b, value->scalar);
		else
			(void)buf_addf(b, "%s", value->scalar);
		(void)buf_addc(b, '\n');
	}
	for (size_t i = 0; i < tables.n; i++) {
		const char *below = arena_printf(a, "%s%s%s", place, *place ? "." : "",
						 key_text(a, tables.v[i]));

		(void)buf_addf(b, "\n%*s[%s]\n", indent, "", below);
		add_table(a, b, tree_get(table, tables.v[i]), indent + 2, below);
	}
}

const char *toml_text(struct arena *a, const struct tree *document)
{
	autobuf struct buf b = BUF_INIT(TEXT_MAX);

	add_table(a, &b, document, 0, "");
	return arena_str(a, buf_str(&b));
}
