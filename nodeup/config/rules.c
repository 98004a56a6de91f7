#include "nodeup/config/rules.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"
#include "nodeup/base/quantity.h"

static bool is_wrong(const struct tree *t)
{
	bool is = t->is_wrong;

	for (size_t i = 0; i < t->n && !is; i++)
		is = is_wrong(t->items[i].value);
	return is;
}

/* An empty text counts as not given, but where the row says that it overlays what was there. */
static bool has(const struct rule_values *v, const struct rule_section *s, const char *key)
{
	const struct tree *t = s->map ? tree_lookup(s->map, key) : NULL;
	const size_t row = s->schema ? field_row(s->schema, key) : 0;

	if (v->is_unsure && ((s->map && s->map->is_wrong) || (t && is_wrong(t))))
		*v->is_unsure = true;
	if (!t || t->kind == TREE_NULL)
		return false;
	return t->kind != TREE_SCALAR || *t->scalar ||
	       (s->schema && row < s->schema->n && s->schema->fields[row].pointer);
}

/* The section whose word on a key counts; NULL: none has it. */
static const struct rule_section *section_of(const struct rule_values *v, const char *key)
{
	for (size_t i = v->n; i-- > 0;)
		if (has(v, &v->sections[i], key))
			return &v->sections[i];
	return NULL;
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
	const char *top = dot ? arena_strn(a, key, (size_t)(dot - key)) : key;
	const struct rule_section *s = section_of(v, top);
	const struct tree *t = s ? tree_lookup(s->map, top) : NULL;
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

/* The mask of the range of a family, '4' or '6'; "": there is none. */
static const char *mask_of(const struct strv *ranges, char family)
{
	for (size_t i = 0; i < ranges->n; i++)
		if (!strchr(ranges->v[i], ':') == (family == '4') && strchr(ranges->v[i], '/'))
			return strchr(ranges->v[i], '/') + 1;
	return "";
}

/* The same of a key, or as it stands; with "*1.2" behind it that much of it, with "+1" more. */
static bool side_of(struct arena *a, const struct rule_values *v, const char *side, bool duration,
		    double *ret)
{
	const size_t len = strcspn(side, "*+"), key = strcspn(side, "/*+");
	const struct strv words = words_of(a, v, arena_strn(a, side, key));
	const char *text = arena_strn(a, side, len);

	if (side[key] == '/')
		text = mask_of(&words, side[key + 1]);
	else if ((*side < '0' || *side > '9') && words.n)
		text = words.v[0];
	if (!number_of(a, text, duration, ret))
		return false;
	if (side[len])
		*ret = side[len] == '+' ? *ret + strtod(side + len, NULL)
					: *ret * strtod(side + len + 1, NULL);
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

/* "memory.available" of "memory.available < 1Gi", "team:NoExecute" of "team=blue:NoExecute"; sorted. */
static struct strv names_of(struct arena *a, const struct strv *words)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->v[i];

		strv_addf(a, &names, "%s%s", str_trim(a, arena_strn(a, word, strcspn(word, "<=:"))),
			  word + strcspn(word, ":"));
	}
	strv_sort(&names);
	return names;
}

static bool has_twins(struct arena *a, const struct strv *words)
{
	const struct strv names = names_of(a, words);

	for (size_t i = 1; i < names.n; i++)
		if (str_eq(names.v[i - 1], names.v[i]))
			return true;
	return false;
}

static bool has_more(struct arena *a, const struct strv *words, const struct strv *others)
{
	const struct strv names = names_of(a, words), known = names_of(a, others);

	for (size_t i = 0; i < names.n; i++)
		if (!strv_has(&known, names.v[i]))
			return true;
	return false;
}

static bool term_holds(struct arena *a, const struct rule_values *v, const char *term)
{
	const size_t n = strcspn(term, "=!<>~#");
	const char *left = arena_strn(a, term, n), *op = term + n;
	const struct strv words = words_of(a, v, left);
	struct strv others;

	switch (*op) {
	case '<':
		return is_less(a, v, left, op);
	case '~':
		return accepts_matches(op + 1, strv_join(a, &words, ","));
	case '#':
		return has_twins(a, &words);
	case '>':
		others = words_of(a, v, op + 1);
		return has_more(a, &words, &others);
	case '\0':
		return words.n > 0;
	default:
		return has_any(a, v, &words, op + 1 + (*op == '!')) == (*op == '=');
	}
}

bool rules_hold(const struct rule_values *v, const char *when)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv terms = strv_split(a, when, '&');

	for (size_t i = 0; i < terms.n; i++)
		if (term_holds(a, v, terms.v[i] + (*terms.v[i] == '!')) == (*terms.v[i] == '!'))
			return false;
	return true;
}

/* Not where a value that it asks for is one that its reader has refused. */
static bool is_broken(const struct field_rule *r, const struct rule_values *all)
{
	bool is_unsure = false;
	struct rule_values v = *all;

	v.is_unsure = &is_unsure;
	return rules_hold(&v, r->when) && !is_unsure;
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
