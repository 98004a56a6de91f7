#include "nodeup/config/rules.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"
#include "nodeup/base/quantity.h"

/* An empty text counts as not given. */
static bool has(const struct rule_section *s, const char *key)
{
	const struct tree *t = s->map ? tree_lookup(s->map, key) : NULL;

	return t && t->kind != TREE_NULL && (t->kind != TREE_SCALAR || *t->scalar);
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

/* The words of a text with commas, or of the texts of a list. */
static void add_words(struct arena *a, const struct tree *t, struct strv *words)
{
	struct strv more;

	for (size_t i = 0; t && t->kind == TREE_SEQ && i < t->n; i++)
		add_words(a, t->items[i].value, words);
	if (!t || t->kind != TREE_SCALAR || !*t->scalar)
		return;
	more = strv_split(a, field_text(t), ',');
	strv_add_all(a, words, &more);
}

/* Those of "key", "map.key" or "key:usual". */
static struct strv words_of(struct arena *a, const struct rule_values *v, const char *name)
{
	const char *key = arena_strn(a, name, strcspn(name, ":")), *dot = strchr(key, '.');
	const struct tree *t = rules_value(v, dot ? arena_strn(a, key, (size_t)(dot - key)) : key);
	struct strv words = { 0 };

	add_words(a, !dot ? t : t && t->kind == TREE_MAP ? tree_get(t, dot + 1) : NULL, &words);
	if (!words.n && strchr(name, ':'))
		strv_add(a, &words, strchr(name, ':') + 1);
	return words;
}

/* An amount, negative ones as well, or a duration in seconds; false: it is none. */
static bool number_of(struct arena *a, const char *text, bool duration, double *ret)
{
	const bool negative = *text == '-';
	struct err ignored;
	int64_t ns;

	if (duration && dur_parse(text, &ns, &ignored) == 0)
		*ret = (double)ns / (double)DUR_SEC;
	else if (!duration && format_is_valid(&format_quantity, text + negative))
		*ret = strtod(quantity_decimal(a, text + negative), NULL) * (negative ? -1 : 1);
	else
		return false;
	return true;
}

/* The same of a key, or as it stands; with "*1.2" behind it that much of it. */
static bool side_of(struct arena *a, const struct rule_values *v, const char *side, bool duration,
		    double *ret)
{
	const char *name = arena_strn(a, side, strcspn(side, "*")), *star = strchr(side, '*');
	const struct strv words = words_of(a, v, name);

	if ((*name < '0' || *name > '9') && words.n)
		name = words.v[0];
	if (!number_of(a, name, duration, ret))
		return false;
	*ret *= star ? strtod(star + 1, NULL) : 1;
	return true;
}

static bool has_any(struct arena *a, const struct rule_values *v, const struct strv *words,
		    const char *list)
{
	const struct strv all = strv_split(a, list, '|');

	for (size_t i = 0; i < all.n; i++) {
		struct strv one = { 0 };

		if (*all.v[i] == '@')
			one = words_of(a, v, all.v[i] + 1);
		else
			strv_add(a, &one, all.v[i]);
		for (size_t j = 0; j < one.n; j++)
			if (strv_has(words, one.v[j]))
				return true;
	}
	return false;
}

static bool is_less(struct arena *a, const struct rule_values *v, const char *left, const char *op)
{
	const bool or_equal = op[1] == '=', duration = op[1 + or_equal] == '~';
	double l, r;

	if (!side_of(a, v, left, duration, &l) ||
	    !side_of(a, v, op + 1 + or_equal + duration, duration, &r))
		return false;
	return or_equal ? l <= r : l < r;
}

static bool term_holds(struct arena *a, const struct rule_values *v, const char *term)
{
	const bool not = *term == '!';
	const char *op = term + not +strcspn(term + not, "=!<");
	const char *left = arena_strn(a, term + not, (size_t)(op - term) - not );
	const struct strv words = words_of(a, v, left);

	if (!*op)
		return (words.n > 0) != not ;
	if (*op == '<')
		return is_less(a, v, left, op);
	return has_any(a, v, &words, op + 1 + (*op == '!')) == (*op == '=');
}

bool rules_hold(const struct rule_values *v, const char *when)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv terms = strv_split(a, when, '&');

	for (size_t i = 0; i < terms.n; i++)
		if (!term_holds(a, v, terms.v[i]))
			return false;
	return true;
}

static bool is_broken(const struct field_rule *r, const struct rule_values *v)
{
	return (!r->when || rules_hold(v, r->when)) && (!r->is_broken || r->is_broken(v));
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
		if (is_broken(r, v))
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
		if (accepts_holds(rules->v[i].since, rules->v[i].until, v->minor))
			tell(a, &rules->v[i], v, ret);
}
