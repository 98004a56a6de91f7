#include "nodeup/config/rules.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"

static bool has(const struct rule_section *s, const char *key)
{
	const struct tree *t = s->map ? tree_lookup(s->map, key) : NULL;

	return t && t->kind != TREE_NULL;
}

/* The section whose word on a key counts; NULL: none has it. */
static const struct rule_section *section_of(const struct rule_values *v, const char *key)
{
	for (size_t i = v->n; i-- > 0;)
		if (has(&v->sections[i], key))
			return &v->sections[i];
	return NULL;
}

const struct tree *rules_value(const struct rule_values *v, const char *key)
{
	const struct rule_section *s = section_of(v, key);

	return s ? tree_lookup(s->map, key) : NULL;
}

const char *rules_text(const struct rule_values *v, const char *key, const char *usual)
{
	const struct tree *t = rules_value(v, key);

	return t && t->kind == TREE_SCALAR ? field_text(t) : usual;
}

int64_t rules_int(const struct rule_values *v, const char *key, int64_t usual)
{
	const struct tree *t = rules_value(v, key);
	int64_t n;

	return t && field_integer(t, &n) == 0 ? n : usual;
}

bool rules_bool(const struct rule_values *v, const char *key, bool usual)
{
	const struct tree *t = rules_value(v, key);

	if (!t || t->kind != TREE_SCALAR || tree_type_of(t->scalar) != TREE_IS_BOOL)
		return usual;
	return tree_is_true(t->scalar);
}

int64_t rules_duration(const struct rule_values *v, const char *key, int64_t usual_ns)
{
	const struct tree *t = rules_value(v, key);
	struct err ignored;
	int64_t ns;

	return t && t->kind == TREE_SCALAR && dur_parse(t->scalar, &ns, &ignored) == 0 ? ns
										       : usual_ns;
}

static bool holds(const struct field_rule *r, int minor)
{
	return (!r->since || minor >= r->since) && (!r->until || minor <= r->until);
}

static void tell(struct arena *a, const struct field_rule *r, const struct rule_values *v,
		 struct accepts_findings *ret)
{
	const struct strv keys = strv_split(a, r->keys, '|');

	for (size_t i = 0; i < keys.n; i++) {
		const struct rule_section *s = section_of(v, keys.v[i]);
		const char *key;

		if (!s)
			continue;
		key = field_path(a, s->path, keys.v[i]);
		if (r->is_broken(v))
			arena_push(a, ret->v, ret->n,
				   (struct accepts_finding){
					   .key = key,
					   .text = arena_printf(a, "%s%s: %s",
								tree_place(a, s->map, keys.v[i]),
								key, r->text) });
		return;
	}
}

void rules_find(struct arena *a, const struct field_rules *rules, const struct rule_values *v,
		struct accepts_findings *ret)
{
	for (size_t i = 0; i < rules->n; i++)
		if (holds(&rules->v[i], v->minor))
			tell(a, &rules->v[i], v, ret);
}
