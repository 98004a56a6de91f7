#include "nodeup/base/field.h"

#include <string.h>
#include "nodeup/base/yaml.h"

enum { PART_MAX = 1 << 20 };

/* Writes whole lines, each with the same text in front. */
static void add_lines(struct buf *b, int indent, const char *sign, const char *text)
{
	for (const char *end; *text; text = end + 1) {
		end = text + strcspn(text, "\n");
		(void)buf_addf(b, "%*s%s%.*s\n", indent, "", sign, (int)(end - text), text);
	}
}

static int add_value(struct arena *a, const struct field *f, struct tree *value, int depth,
		     struct buf *b, struct err *e)
{
	autobuf struct buf text = BUF_INIT(PART_MAX);
	int r;

	if (f->doc)
		(void)buf_addf(b, "%*s# %s%s%s%s\n", 2 * depth, "", f->doc, f->oneof ? " (" : "",
			       f->oneof ? f->oneof : "", f->oneof ? ")" : "");
	if (f->kind == FIELD_OBJECT && value->kind == TREE_MAP && value->n > 0) {
		(void)buf_addf(b, "%*s%s:\n", 2 * depth, "", f->key);
		return field_example(a, f->schema, value, depth + 1, b, e);
	}
	r = yaml_render(tree_set(a, tree_map(a), f->key, value), &text, e);
	if (r >= 0)
		add_lines(b, 2 * depth, "", buf_str(&text));
	return r;
}

int field_example(struct arena *a, const struct schema *s, const struct tree *values, int depth,
		  struct buf *b, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < s->n && r >= 0; i++) {
		const struct schema one = { .fields = &s->fields[i], .n = 1 };
		autobuf struct buf text = BUF_INIT(PART_MAX);
		struct tree *value = tree_get(values, one.fields->key);

		if (value) {
			r = add_value(a, one.fields, value, depth, b, e);
			continue;
		}
		(void)field_docs(&one, 0, &text);
		add_lines(b, 2 * depth, "#", buf_str(&text));
	}
	return r < 0 ? r : buf_check(b, "an example", e);
}
