#include "nodeup/base/field.h"

#include <string.h>

static struct tree *texts(struct arena *a, const char *const *names, size_t n)
{
	struct tree *seq = tree_seq(a);

	for (size_t i = 0; i < n; i++)
		(void)tree_add(a, seq, tree_string(a, names[i]));
	return seq;
}

/* The types of JSON that the value may have. Any scalar of YAML is read as a text; null counts as absent. */
static void set_types(struct arena *a, struct tree *map, enum field_kind kind, enum tree_kind shape)
{
	static const char *const scalars[] = { "null", "string", "number", "boolean" };
	static const char *const booleans[] = { "null", "boolean" };
	static const char *const integers[] = { "null", "integer" };
	static const char *const lists[] = { "null", "array" };
	static const char *const maps[] = { "null", "object" };
	const char *const *names = scalars;
	size_t n = ARRAY_LEN(scalars);

	if (kind == FIELD_TREE && shape == TREE_NULL)
		return;
	if (kind == FIELD_STRV || kind == FIELD_LIST || shape == TREE_SEQ)
		names = lists;
	else if (kind == FIELD_STRMAP || kind == FIELD_OBJECT || shape == TREE_MAP)
		names = maps;
	else if (kind == FIELD_BOOL || kind == FIELD_OPT_BOOL)
		names = booleans;
	else if (kind == FIELD_INT || kind == FIELD_OPT_INT)
		names = integers;
	if (names != scalars)
		n = 2;
	(void)tree_set(a, map, "type", texts(a, names, n));
}

/* "a|b|": the last one is empty. What looks like a number or true is one where it has no quotes. */
static struct tree *choices(struct arena *a, const char *oneof)
{
	struct strv all = strv_split(a, oneof, '|');
	struct tree *seq = tree_add(a, tree_of_strv(a, &all), tree_null(a));

	for (size_t i = 0; i < all.n; i++)
		if (*all.v[i] && tree_type_of(all.v[i]) != TREE_IS_STRING)
			(void)tree_add(a, seq, tree_plain(a, all.v[i]));
	return seq;
}

static struct tree *value_schema(struct arena *a, const struct field *f)
{
	struct tree *map = f->kind == FIELD_OBJECT ? field_json_schema(a, f->schema) : tree_map(a);
	struct tree *each = tree_map(a);

	tree_set_text(a, map, "description",
		      f->flag ? arena_printf(a, "%s (--%s)", f->doc ? f->doc : "", f->flag)
			      : f->doc);
	set_types(a, map, f->kind, f->shape);
	if (f->oneof)
		(void)tree_set(a, map, "enum", choices(a, f->oneof));
	tree_set_text(a, map, "default", f->usual);
	if (f->min || f->max) {
		tree_set_int(a, map, "minimum", f->min);
		tree_set_int(a, map, "maximum", f->max);
	}
	set_types(a, each, FIELD_STRING, TREE_NULL);
	if (f->kind == FIELD_STRV)
		(void)tree_set(a, map, "items", each);
	else if (f->kind == FIELD_LIST)
		(void)tree_set(a, map, "items", field_json_schema(a, f->schema));
	else if (f->kind == FIELD_STRMAP)
		(void)tree_set(a, map, "additionalProperties", each);
	return map;
}

struct tree *field_json_schema(struct arena *a, const struct schema *s)
{
	struct tree *map = tree_map(a), *properties = tree_map(a), *required = tree_seq(a);

	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];

		(void)tree_set(a, properties, f->key, value_schema(a, f));
		if (f->required)
			(void)tree_add(a, required, tree_string(a, f->key));
	}
	set_types(a, map, FIELD_OBJECT, TREE_NULL);
	(void)tree_set(a, map, "properties", properties);
	(void)tree_set(a, map, "additionalProperties", tree_plain(a, "false"));
	tree_set_some(a, map, "required", required);
	return map;
}
