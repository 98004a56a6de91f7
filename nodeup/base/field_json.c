#include "nodeup/base/accepts.h"

/* The JSON types that the value may have. Any scalar of YAML is read as a text; null counts as missing. */
static void set_types(struct arena *a, struct tree *map, enum field_kind kind, enum tree_kind shape)
{
	static const char scalars[] = "null|string|number|boolean", booleans[] = "null|boolean",
			  integers[] = "null|integer", lists[] = "null|array",
			  maps[] = "null|object";
	static const char *const of_kinds[] = {
		[FIELD_STRING] = scalars,    [FIELD_OPT_DUR] = scalars, [FIELD_BOOL] = booleans,
		[FIELD_OPT_BOOL] = booleans, [FIELD_INT] = integers,    [FIELD_OPT_INT] = integers,
		[FIELD_STRV] = lists,        [FIELD_LIST] = lists,      [FIELD_STRMAP] = maps,
		[FIELD_OBJECT] = maps,       [FIELD_TREE] = NULL,
	};
	static const char *const of_shapes[] = {
		[TREE_NULL] = NULL, [TREE_SCALAR] = scalars, [TREE_SEQ] = lists, [TREE_MAP] = maps
	};
	const char *names = kind == FIELD_TREE ? of_shapes[shape] : of_kinds[kind];
	const struct strv types = strv_split(a, names ? names : "", '|');

	tree_set_some(a, map, "type", tree_of_strv(a, &types));
}

/* Lists the words of "a|b|", the last of which is empty. A word that YAML reads as another type, such as a number or
 * true, is listed without quotes too. */
static struct tree *choices(struct arena *a, const char *oneof)
{
	struct strv all = strv_split(a, oneof, '|');
	struct tree *seq = tree_add(a, tree_of_strv(a, &all), tree_null(a));

	for (size_t i = 0; i < all.n; i++)
		if (*all.v[i] && tree_type_of(all.v[i]) != TREE_IS_STRING)
			(void)tree_add(a, seq, tree_plain(a, all.v[i]));
	return seq;
}

/* Adds the limits that the program has in all versions, for a single value. */
static void set_accepts(struct arena *a, struct tree *map, const struct field *f)
{
	const bool is_number = f->kind == FIELD_INT || f->kind == FIELD_OPT_INT;
	const struct field_accepts *d = f->accepts;

	if (!d || d->since || d->until || d->names || d->next || f->flag_empty)
		return;
	if (d->oneof && f->kind == FIELD_STRING && !d->commas && !f->oneof)
		(void)tree_set(a, map, "enum", choices(a, arena_printf(a, "%s|", d->oneof)));
	if (is_number && (d->min || d->max) && d->min != INT64_MIN)
		tree_set_int(a, map, "minimum", d->min);
	if (is_number && (d->min || d->max) && d->max != INT64_MAX)
		tree_set_int(a, map, "maximum", d->max);
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
	set_accepts(a, map, f);
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
