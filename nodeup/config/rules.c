#include "nodeup/config/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"
#include "nodeup/base/quantity.h"

/* A condition that is being evaluated. */
struct asked {
	struct arena *arena;
	const struct rule_values *values;
	bool is_unsure; /* the condition needed a value that its reader refused */
};

/* Returns whether an empty text of this key overrides an earlier text; if so, it counts as given. */
static bool overlays(const struct schema *s, const char *key)
{
	return s && field_row(s, key) < s->n && s->fields[field_row(s, key)].pointer;
}

/* Returns the last section that gives the key a value, or NULL. */
static const struct rule_section *section_of(struct asked *q, const char *key)
{
	for (size_t i = q->values->n; i-- > 0;) {
		const struct rule_section *s = &q->values->sections[i];
		const struct tree *t = tree_lookup(s->map, key);

		q->is_unsure |= (s->map && s->map->is_wrong) || (t && t->is_wrong);
		if (t && t->kind != TREE_NULL &&
		    (t->kind != TREE_SCALAR || *t->scalar || overlays(s->schema, key)))
			return s;
	}
	return NULL;
}

static void add_words(struct asked *q, const struct tree *t, struct strv *words)
{
	q->is_unsure |= t->is_wrong;
	for (size_t i = 0; i < t->n; i++)
		add_words(q, t->items[i].value, words);
	if (!str_is_empty(t->scalar))
		strv_add(q->arena, words, field_text(t));
}

/* Returns the words of "key", "map.key" or "key:usual", joined by commas; "": none. */
static const char *words_of(struct asked *q, const char *name)
{
	const char *usual = strchr(name, ':'),
		   *key = arena_strn(q->arena, name, strcspn(name, ":"));
	const char *top = arena_strn(q->arena, key, strcspn(key, "."));
	const struct rule_section *s = section_of(q, top);
	const struct tree *t = s ? tree_lookup(s->map, top) : NULL;
	struct strv words = { 0 };

	if (strchr(key, '.'))
		t = tree_get(t, strchr(key, '.') + 1);
	if (t)
		add_words(q, t, &words);
	return words.n ? strv_join(q->arena, &words, ",") : usual ? usual + 1 : "";
}

/* Returns the amount, the duration or the range's mask of one side, which is a name or a literal. NAN: the side has
 * none of the three forms. */
static double number_of(struct asked *q, const char *side, bool duration)
{
	const char *name = arena_strn(q->arena, side, strcspn(side, "*+"));
	const char *words = words_of(q, name), *text = *words ? words : name;
	const char *number = strchr(text, '/') ? strchr(text, '/') + 1 : text;
	const char *sign = side + strlen(name);
	double n = NAN;
	struct err ignored;
	int64_t ns;

	if (duration && dur_parse(number, &ns, &ignored) == 0)
		n = (double)ns;
	else if (!duration && format_is_valid(&format_quantity, number + (*number == '-')))
		n = strtod(quantity_decimal(q->arena, number), NULL);
	return *sign == '*' ? n * strtod(sign + 1, NULL) : *sign ? n + strtod(sign, NULL) : n;
}

static bool is_less(struct asked *q, const char *left, const char *right)
{
	const bool or_equal = *right == '=', duration = right[or_equal] == '~';
	const double l = number_of(q, left, duration);
	const double r = number_of(q, right + or_equal + duration, duration);

	return or_equal ? l <= r : l < r;
}

static bool has_common(struct arena *a, const char *some, const char *others)
{
	const struct strv v = strv_split(a, some, ','), other = strv_split(a, others, ',');

	for (size_t i = 0; i < v.n; i++)
		if (strv_has(&other, v.v[i]))
			return true;
	return false;
}

/* Returns whether two words have the same name. Without values, "memory.available < 1Gi" is "memory.available", and
 * "team=blue:NoExecute" is "team:NoExecute". */
static bool has_twins(struct arena *a, const char *text)
{
	const struct strv words = strv_split(a, text, ',');
	struct strv names = { 0 };

	for (size_t i = 0; i < words.n; i++) {
		const char *word = words.v[i];
		const char *name = str_trim(a, arena_strn(a, word, strcspn(word, "<=:")));

		strv_add_once(a, &names, arena_printf(a, "%s%s", name, word + strcspn(word, ":")));
	}
	return names.n < words.n;
}

static bool term_holds(struct asked *q, const char *term)
{
	const size_t n = strcspn(term, "=~<@#");
	const char *left = arena_strn(q->arena, term, n), *right = term + n + 1;
	const char *words = words_of(q, left);

	switch (term[n]) {
	case '=':
		return accepts_matches(arena_printf(q->arena, "(^|,)(%s)(,|$)", right), words);
	case '~':
		return accepts_matches(right, words);
	case '<':
		return is_less(q, left, right);
	case '@':
		return has_common(q->arena, words, words_of(q, right));
	case '#':
		return has_twins(q->arena, words);
	default:
		return *words;
	}
}

bool rules_hold(const struct rule_values *v, const char *when)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv terms = strv_split(a, when, '&');
	struct asked q = { a, v };
	bool all = true;

	for (size_t i = 0; i < terms.n && all; i++)
		all = term_holds(&q, terms.v[i] + (*terms.v[i] == '!')) != (*terms.v[i] == '!');
	return all && !q.is_unsure;
}

static void check(struct arena *a, const struct field_rule *r, const struct rule_values *v,
		  struct accepts_findings *ret)
{
	const struct strv keys = strv_split(a, r->keys, '|');
	const struct rule_section *s = NULL;
	struct asked q = { a, v };
	const char *path, *text;
	size_t i = 0;

	while (i < keys.n && !(s = section_of(&q, keys.v[i])))
		i++;
	if (!s || !rules_hold(v, r->when))
		return;
	path = field_path(a, s->path, keys.v[i]);
	text = arena_printf(a, "%s%s: %s", tree_place(a, s->map, keys.v[i]), path, r->text);
	arena_push(a, ret->v, ret->n, (struct accepts_finding){ .key = path, .text = text });
}

void rules_find(struct arena *a, const struct field_rules *rules, const struct rule_values *v,
		struct accepts_findings *ret)
{
	for (size_t i = 0; i < rules->n; i++)
		if (accepts_holds(rules->v[i].since, rules->v[i].until, v->minor))
			check(a, &rules->v[i], v, ret);
}
