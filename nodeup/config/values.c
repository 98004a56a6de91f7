#include "nodeup/config/values.h"

#include "nodeup/config/settings.h"

void values_find(struct values *v, const struct schema *s, const struct tree *map)
{
	if (!v->opts->any_value)
		accepts_check(v->arena, s, map, &(struct accepts_opts){ .minor = v->minor },
			      &v->found);
}

void values_find_across(struct values *v, const struct field_rules *rules,
			const struct rule_section *sections, size_t n)
{
	const struct rule_values all = { .sections = sections, .n = n, .minor = v->minor };

	if (!v->opts->any_value)
		rules_find(v->arena, rules, &all, &v->found);
}

void values_find_below(struct values *v, const struct field_rules *rules, const struct tree *t,
		       const char *places)
{
	const struct strv all = strv_split(v->arena, places, '|');
	struct rule_section *sections = arena_alloc(v->arena, all.n * sizeof(*sections));

	for (size_t i = 0; i < all.n; i++) {
		const struct strv keys = strv_split(v->arena, all.v[i], '.');
		const struct tree *map = t;

		for (size_t j = 0; j < keys.n; j++)
			map = tree_lookup(map, keys.v[j]);
		sections[i] = (struct rule_section){ all.v[i], map };
	}
	values_find_across(v, rules, sections, all.n);
}

/* Notes a value with which the run goes on, so that status names it. */
static void tolerate(struct values *v, const char *text, const char *why)
{
	const struct dialect_opts *o = v->opts;

	text = arena_printf(v->arena, "%s; it goes on, %s", text, why);
	dialect_warn(v->arena, o, "%s", text);
	if (o->tolerated && !strv_has(o->tolerated, text))
		strv_add(v->arena, o->tolerated, text);
}

static int fail(const struct accepts_finding *f, struct err *e)
{
	int r = err_config(e, "%s", f->text);

	if (f->nearest)
		err_note(e, "do", "did you mean %s?", f->nearest);
	err_note(e, "do", "if its program takes it, say accept: [%s] in the settings", f->key);
	return r;
}

int values_judge(struct values *v, struct err *e)
{
	const struct dialect_opts *o = v->opts;
	const size_t n = o->any_value ? 0 : v->found.n;
	const bool was_applied = n && o->was_applied && o->was_applied(o->records, NULL);
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		const struct accepts_finding *f = &v->found.v[i];

		if (settings_has(o->accept_values, v->accept, f->key))
			tolerate(v, f->text, "as accept says");
		else if (f->names && !o->strict)
			dialect_warn(v->arena, o, "%s%s%s%s", f->text,
				     f->nearest ? "; did you mean '" : "",
				     f->nearest ? f->nearest : "", f->nearest ? "'?" : "");
		else if (was_applied)
			tolerate(v, f->text,
				 "as a run with these documents ended well on this instance");
		else if (r < 0)
			err_note(e, "also", "%s", f->text);
		else
			r = errs_keep_apart(o->errors, fail(f, e), e);
	}
	return r;
}
