#include "nodeup/cmd/redact.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"

static size_t bytes_in(const struct tree *t)
{
	size_t n = t->kind == TREE_SCALAR ? strlen(t->scalar) : 0;

	for (size_t i = 0; i < t->n; i++)
		n += bytes_in(t->items[i].value) + (t->items[i].key ? strlen(t->items[i].key) : 0);
	return n;
}

static struct tree *length_of(struct arena *a, const char *what, const struct tree *t)
{
	return tree_string(a, arena_printf(a, "<%s%zu bytes>", what, bytes_in(t)));
}

/* Learns a value that is not what the row wants: anything may be in it. */
static struct tree *not_wanted(struct redact *r, struct arena *a, const struct tree *t)
{
	redact_learn_tree(r, t);
	return length_of(a, "", t);
}

/* Returns whether a scalar has the type of the row. */
static bool has_type(const struct field *f, const struct tree *t)
{
	const enum tree_type type = t->quoted ? TREE_IS_STRING : tree_type_of(t->scalar);
	struct err ignored;
	int64_t ns;

	switch (f->kind) {
	case FIELD_BOOL:
	case FIELD_OPT_BOOL:
		return type == TREE_IS_BOOL;
	case FIELD_INT:
	case FIELD_OPT_INT:
		return type == TREE_IS_INT;
	case FIELD_OPT_DUR:
		return dur_parse(t->scalar, &ns, &ignored) == 0;
	default:
		return true;
	}
}

static struct tree *scalar(struct redact *r, struct arena *a, const struct field *f, struct tree *t)
{
	if (t->kind == TREE_NULL)
		return t;
	if (t->kind != TREE_SCALAR || !has_type(f, t))
		return not_wanted(r, a, t);
	if (redact_is_open(r, t->scalar))
		return t;
	/* in a list a short word is none that was chosen */
	redact_learn_document(r, tree_add(a, tree_seq(a), t));
	return length_of(a, "", t);
}

static struct tree *strings(struct redact *r, struct arena *a, const struct field *f,
			    const struct tree *t)
{
	struct tree *out = t->kind == TREE_SEQ ? tree_seq(a) : tree_map(a);

	for (size_t i = 0; i < t->n; i++) {
		const char *key = t->items[i].key;
		struct tree *value = scalar(r, a, f, t->items[i].value);

		if (key && value->kind == TREE_NULL)
			redact_learn(r, key);
		if (key && (value->kind == TREE_NULL || !redact_is_open(r, key)))
			key = arena_printf(a, "<key %zu: %zu bytes>", i + 1, strlen(key));
		(void)(key ? tree_set(a, out, key, value) : tree_add(a, out, value));
	}
	return out;
}

/* Learns what hooks hold but for their names, which are the names of their units: no table has the other keys, and any
 * may have a password. Hooks are a list, or a list of lists. */
static void learn_hooks(struct redact *r, const struct tree *t)
{
	if (t->kind == TREE_SCALAR)
		redact_learn_tree(r, t);
	for (size_t i = 0; i < t->n; i++)
		if (t->kind == TREE_SEQ)
			learn_hooks(r, t->items[i].value);
		else if (strcasecmp(t->items[i].key, "name") != 0)
			redact_learn_tree(r, t->items[i].value);
}

static struct tree *shown(struct redact *r, struct arena *a, const struct field *f, struct tree *t)
{
	const bool is_hooks = strcasecmp(f->key, "hooks") == 0;
	struct tree *out = tree_seq(a);

	if (is_hooks)
		learn_hooks(r, t);
	if (f->secret) {
		if (!is_hooks)
			redact_learn_tree(r, t);
		return length_of(a, "secret: ", t);
	}
	switch (f->kind) {
	case FIELD_STRV:
		return t->kind == TREE_SEQ ? strings(r, a, f, t) : not_wanted(r, a, t);
	case FIELD_STRMAP:
		return t->kind == TREE_MAP ? strings(r, a, f, t) : not_wanted(r, a, t);
	case FIELD_OBJECT:
		return t->kind == TREE_MAP ? redact_fields(r, a, f->schema, t)
					   : not_wanted(r, a, t);
	case FIELD_LIST:
		for (size_t i = 0; t->kind == TREE_SEQ && i < t->n; i++) {
			struct tree *item = t->items[i].value;

			(void)tree_add(a, out,
				       item->kind == TREE_MAP ? redact_fields(r, a, f->schema, item)
							      : not_wanted(r, a, item));
		}
		return t->kind == TREE_SEQ ? out : not_wanted(r, a, t);
	case FIELD_TREE:
		if (f->shape == TREE_SCALAR)
			return scalar(r, a, f, t);
		return f->shape == TREE_NULL || f->shape == t->kind ? length_of(a, "", t)
								    : not_wanted(r, a, t);
	default:
		return scalar(r, a, f, t);
	}
}

struct tree *redact_fields(struct redact *r, struct arena *a, const struct schema *s,
			   const struct tree *map)
{
	struct tree *out = tree_map(a);

	for (size_t i = 0; i < map->n; i++) {
		const struct tree_item *it = &map->items[i];
		const size_t row = field_row(s, it->key);

		if (row < s->n) {
			(void)tree_set(a, out, s->fields[row].key,
				       shown(r, a, &s->fields[row], it->value));
			continue;
		}
		if (it->value->kind == TREE_NULL)
			redact_learn(r, it->key);
		(void)tree_set(a, out,
			       arena_printf(a, "<unknown key %zu: %zu bytes>", i + 1,
					    strlen(it->key)),
			       not_wanted(r, a, it->value));
	}
	return out;
}
