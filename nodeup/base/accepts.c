#include "nodeup/base/accepts.h"

#include <regex.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"
#include "nodeup/base/near.h"

struct walk {
	struct arena *arena;
	const struct accepts_opts *opts;
	struct accepts_findings *ret;
};

/* The value for a row of the field table, or an item of that value. */
struct place {
	const struct walk *walk;
	const struct field_seen *row;
	const struct tree *value;
	const char *path;
	bool is_given;
	const struct form *form; /* the pattern of the demand that is being checked */
};

bool accepts_holds(unsigned int since, unsigned int until, int minor)
{
	return (!since || minor >= (int)since) && (!until || minor <= (int)until);
}

const char *accepts_wanted(struct arena *a, const struct field_accepts *d)
{
	if (d->wanted)
		return d->wanted;
	return arena_printf(a, "%s%s", strchr(d->oneof, '|') ? "one of " : "", d->oneof);
}

/* Returns whether a number is in the range. A zero is accepted too if the row counts zero as unset, since the
 * program never gets it. */
static bool is_in_range(const struct field *f, const struct field_accepts *d, const char *word)
{
	const struct tree t = { .kind = TREE_SCALAR, .scalar = word };
	struct err ignored;
	int64_t n;

	if ((f->kind == FIELD_OPT_DUR ? dur_parse(word, &n, &ignored) : field_integer(&t, &n)) < 0)
		return false;
	return (n >= d->min && n <= d->max) || (n == 0 && (d->zero || f->flag_empty));
}

/* A compiled pattern. It is kept, since compiling takes longer than many comparisons. */
struct form {
	regex_t re;
	bool is_set, inverted;
};

static struct form form_of(const char *pattern)
{
	const bool inverted = pattern && *pattern == '!',
		   any_case = pattern && str_has_prefix(pattern, "(?i)");
	struct form f = { .inverted = inverted };

	f.is_set = pattern && regcomp(&f.re, pattern + (any_case ? 4 : inverted),
				      REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0)) == 0;
	return f;
}

static void free_form(struct form *f)
{
	if (f->is_set)
		regfree(&f->re);
}

#define autoform __attribute__((cleanup(free_form))) struct form

static bool has_form(const struct form *f, const char *word)
{
	return !f->is_set || (regexec(&f->re, word, 0, NULL, 0) == 0) != f->inverted;
}

bool accepts_matches(const char *pattern, const char *word)
{
	autoform f = form_of(pattern);

	return has_form(&f, word);
}

static void tell(const struct place *p, const struct field_accepts *d, const char *found,
		 const char *meant)
{
	struct arena *a = p->walk->arena;
	const char *at = tree_where(a, &p->value->pos), *key = p->walk->opts->key;
	const struct accepts_finding finding = {
		.key = key ? key : p->row->path,
		.text = arena_printf(a, "%s: %s: expected %s, found %s", at, p->path,
				     accepts_wanted(a, d), found),
		.nearest = p->row->secret ? NULL : meant,
		.names = d->names && p->is_given,
	};

	arena_push(a, p->walk->ret->v, p->walk->ret->n, finding);
}

/* Returns the known name that the word was probably meant to be, or NULL. */
static const char *nearest(struct arena *a, const struct field_accepts *d, const char *word)
{
	const char *known = d->near ? d->near : d->oneof, *name = word + strspn(word, " -");
	const struct strv names = strv_split(a, known ? known : "", '|');

	name = d->near ? arena_strn(a, name, strcspn(name, " <=")) : word;
	return strv_has(&names, name) ? NULL : near_name(name, names.v, names.n);
}

static void check_word(const struct place *p, const struct field_accepts *d, const char *word)
{
	struct arena *a = p->walk->arena;
	const struct strv words = strv_split(a, d->oneof ? d->oneof : "", '|');
	const struct tree part = { .kind = TREE_SCALAR, .scalar = word };

	if ((d->oneof && !strv_has(&words, word)) || (d->is_valid && !d->is_valid(word)) ||
	    !has_form(p->form, word) ||
	    (d->longest && strcspn(word, d->prefix ? "/" : "") > d->longest) ||
	    ((d->min || d->max) && !is_in_range(p->row->field, d, word)))
		tell(p, d, field_found(a, d->commas ? &part : p->value, !p->row->secret),
		     nearest(a, d, word));
}

static void check_text(const struct place *p, const struct field_accepts *d)
{
	const char *text = field_text(p->value);
	const struct strv words = strv_split(p->walk->arena, text, d->commas ? ',' : '\n');

	for (size_t i = 0; i < words.n && !str_eq(text, p->row->field->flag_empty); i++)
		check_word(p, d, d->commas ? words.v[i] : text);
}

static void check_keys(const struct place *p, const struct field_accepts *d)
{
	struct arena *a = p->walk->arena;
	const struct strv keys = strv_split(a, d->one_key, '|');
	struct strv there = { 0 };

	for (size_t i = 0; i < p->value->n; i++)
		if (strv_has(&keys, p->value->items[i].key) &&
		    p->value->items[i].value->kind != TREE_NULL)
			strv_add(a, &there, p->value->items[i].key);
	if (there.n != 1)
		tell(p, d, there.n ? strv_join(a, &there, " and ") : "none of them", NULL);
}

static void check_demand(const struct place *p, const struct field_accepts *d);

/* Checks an item of a value, or the item's key. */
static void check_item(const struct place *p, const struct field_accepts *d, size_t i)
{
	struct arena *a = p->walk->arena;
	const struct tree_item *it = &p->value->items[i];
	const struct tree key = { .kind = TREE_SCALAR, .pos = it->key_pos, .scalar = it->key };
	struct place item = *p;

	item.value = d->keys ? &key : it->value;
	item.path = it->key ? arena_printf(a, "%s.%s", p->path, it->key)
			    : arena_printf(a, "%s[%zu]", p->path, i);
	if (it->value->is_wrong && !d->keys)
		return;
	if (d->pairs)
		check_word(&item, d, arena_printf(a, "%s=%s", it->key, field_text(it->value)));
	else if (d->keys && it->key)
		check_word(&item, d, it->key);
	else if (!d->keys)
		check_demand(&item, d);
}

static void check_demand(const struct place *p, const struct field_accepts *d)
{
	if (d->one_key && p->value->kind == TREE_MAP)
		check_keys(p, d);
	else if (p->value->kind == TREE_SCALAR && !d->keys)
		check_text(p, d);
	else
		for (size_t i = 0; i < p->value->n; i++)
			check_item(p, d, i);
}

/* Reports a missing value. Its place is the map that lacks the value. */
static void check_row(void *arg, const struct field_seen *row)
{
	const struct tree *t = row->value ? row->value : row->map;
	const bool is_given = row->value && !field_says_nothing(t);
	struct place p = { arg, row, t, row->path, is_given, NULL };

	for (const struct field_accepts *d = row->field->accepts; d && !t->is_wrong; d = d->next) {
		const bool holds = accepts_holds(d->since, d->until, p.walk->opts->minor);
		autoform f = form_of(holds && is_given ? d->pattern : NULL);

		p.form = &f;
		if (holds && is_given)
			check_demand(&p, d);
		else if (holds && d->needed)
			tell(&p, d, "nothing", NULL);
	}
}

void accepts_check(struct arena *a, const struct schema *s, const struct tree *map,
		   const struct accepts_opts *o, struct accepts_findings *ret)
{
	struct walk w = { a, o, ret };
	struct errs wrong = { .arena = a };
	const struct field_opts opts = {
		.look = check_row, .arg = &w, .path = o->path, .secret = o->secret, .errors = &wrong
	};
	struct err e;

	(void)!errs_keep(&wrong, field_parse(a, s, map, arena_alloc(a, s->size), &opts, &e), &e);
	for (size_t i = 0; o->key && i < wrong.n; i++)
		arena_push(a, ret->v, ret->n,
			   (struct accepts_finding){ .key = o->key, .text = wrong.v[i].msg });
}
