#include "nodeup/base/accepts.h"

#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"
#include "nodeup/base/near.h"

struct walk {
	struct arena *arena;
	const struct accepts_opts *opts;
	struct accepts_findings *ret;
};

/* A value, or an item of it. */
struct place {
	const struct field *field;
	const struct tree *value;
	const char *key, *path; /* of the row, and of the item */
	bool secret;
};

bool accepts_holds(unsigned int since, unsigned int until, int minor)
{
	return (!since || minor >= (int)since) && (!until || minor <= (int)until);
}

static bool has_range(const struct field_accepts *d)
{
	return d->min || d->max;
}

static const char *amount(struct arena *a, const struct field *f, int64_t n)
{
	return f->kind == FIELD_OPT_DUR ? dur_render(a, n) : arena_printf(a, "%lld", (long long)n);
}

static const char *range(struct arena *a, const struct field *f, const struct field_accepts *d)
{
	const char *of = f->kind == FIELD_OPT_DUR ? "a duration" : "an integer";
	const char *least = amount(a, f, d->min), *most = amount(a, f, d->max);

	if (d->max == INT64_MAX)
		return arena_printf(a, "%s of %s or more", of, least);
	if (d->min == INT64_MIN)
		return arena_printf(a, "%s of %s or less", of, most);
	return arena_printf(a, "%s from %s to %s", of, least, most);
}

static bool is_list(enum field_kind kind)
{
	return kind == FIELD_LIST || kind == FIELD_STRV;
}

static const char *kind_wanted(enum field_kind kind)
{
	return is_list(kind) ? "a list" : kind == FIELD_OBJECT ? "a map" : "a text";
}

const char *accepts_wanted(struct arena *a, const struct field *f, const struct field_accepts *d)
{
	if (d->wanted)
		return d->wanted;
	if (d->oneof)
		return arena_printf(a, "%s%s", strchr(d->oneof, '|') ? "one of " : "", d->oneof);
	if (d->one_key)
		return arena_printf(a, "one of %s", d->one_key);
	return has_range(d) ? range(a, f, d) : kind_wanted(f->kind);
}

const char *accepts_versions(struct arena *a, unsigned int since, unsigned int until)
{
	if (since && until)
		return arena_printf(a, " (Kubernetes 1.%u to 1.%u)", since, until);
	if (since || until)
		return arena_printf(a, " (%s Kubernetes 1.%u)", since ? "since" : "until",
				    since ? since : until);
	return "";
}

/* The number that is compared with a range; false: it is none. */
static bool number_of(const struct field *f, const struct tree *t, const char *word, int64_t *ret)
{
	struct err ignored;
	char *end;

	if (f->kind == FIELD_OPT_DUR)
		return dur_parse(word, ret, &ignored) == 0;
	if (f->kind == FIELD_INT || f->kind == FIELD_OPT_INT)
		return field_integer(t, ret) == 0;
	errno = 0;
	*ret = strtoll(word, &end, 10);
	return end != word && !*end && !errno;
}

/* The reader has told what it could not read. */
static bool is_in_range(const struct place *p, const struct field_accepts *d, const char *word)
{
	const enum field_kind kind = p->field->kind;
	const bool is_read = kind == FIELD_OPT_DUR || kind == FIELD_INT || kind == FIELD_OPT_INT;
	int64_t n;

	if (!number_of(p->field, p->value, word, &n))
		return is_read;
	return (n >= d->min && n <= d->max) || (n == 0 && d->zero);
}

bool accepts_matches(const char *pattern, const char *word)
{
	const bool not = *pattern == '!', any_case = str_has_prefix(pattern, "(?i)");
	regex_t re;
	bool is;

	if (regcomp(&re, pattern + (any_case ? 4 : not ),
		    REG_EXTENDED | REG_NOSUB | (any_case ? REG_ICASE : 0)) != 0)
		return true;
	is = regexec(&re, word, 0, NULL, 0) == 0;
	regfree(&re);
	return is != not ;
}

static bool is_taken(const struct place *p, const struct field_accepts *d, const struct strv *words,
		     const char *word)
{
	return (!d->oneof || strv_has(words, word)) && (!d->is_valid || d->is_valid(word)) &&
	       (!d->pattern || accepts_matches(d->pattern, word)) &&
	       (!has_range(d) || is_in_range(p, d, word));
}

/* A value that is the row's flag_empty, in whichever form, is not given to the program. */
static bool is_unset(const struct place *p, const char *text)
{
	const char *none = p->field->flag_empty;
	const struct tree t = { .kind = TREE_SCALAR, .scalar = none };
	int64_t n, unset;

	if (!*text)
		return !p->field->filled;
	if (!none)
		return false;
	return str_eq(text, none) || (number_of(p->field, p->value, text, &n) &&
				      number_of(p->field, &t, none, &unset) && n == unset);
}

static void tell(struct walk *w, const struct place *p, const struct field_accepts *d,
		 const char *found, const char *nearest)
{
	struct arena *a = w->arena;
	const struct accepts_opts *o = w->opts;
	const struct tree_pos *pos = &p->value->pos;
	const char *at =
		o->from ? arena_printf(a, "%s: line %u, column %u", o->from, pos->line, pos->column)
			: tree_where(a, pos);

	arena_push(a, w->ret->v, w->ret->n,
		   (struct accepts_finding){
			   .key = o->key ? o->key : p->key,
			   .text = arena_printf(a, "%s: %s%sexpected %s, found %s", at, p->path,
						*p->path ? ": " : "",
						accepts_wanted(a, p->field, d), found),
			   .nearest = nearest && *nearest && !p->secret ? nearest : NULL,
			   .names = d->names });
}

static void check_word(struct walk *w, const struct place *p, const struct field_accepts *d,
		       const char *word)
{
	const struct strv words = strv_split(w->arena, d->oneof ? d->oneof : "", '|');
	const struct tree part = { .kind = TREE_SCALAR, .scalar = word };

	if (!is_taken(p, d, &words, word))
		tell(w, p, d, field_found(w->arena, d->commas ? &part : p->value, !p->secret),
		     d->oneof ? near_name(word, words.v, words.n) : NULL);
}

static void check_scalar(struct walk *w, const struct place *p, const struct field_accepts *d)
{
	const char *text = p->value->kind == TREE_SCALAR ? field_text(p->value) : "";
	struct strv words = { 0 };

	if (p->value->kind != TREE_SCALAR || is_unset(p, text))
		return;
	if (d->commas && *text)
		words = strv_split(w->arena, text, ',');
	else
		strv_add(w->arena, &words, text);
	for (size_t i = 0; i < words.n; i++)
		check_word(w, p, d, words.v[i]);
}

static void check_item(struct walk *w, const struct place *p, const struct field_accepts *d,
		       size_t i)
{
	const struct tree_item *it = &p->value->items[i];
	const struct tree key = { .kind = TREE_SCALAR, .pos = it->key_pos, .scalar = it->key };
	struct place item = *p;

	item.path = it->key ? arena_printf(w->arena, "%s.%s", p->path, it->key)
			    : arena_printf(w->arena, "%s[%zu]", p->path, i);
	item.value = d->keys ? &key : it->value;
	if (item.value->is_wrong)
		return;
	if (d->pairs)
		check_word(w, &item, d,
			   arena_printf(w->arena, "%s=%s", it->key, field_text(it->value)));
	else if (d->keys && it->key)
		check_word(w, &item, d, it->key);
	else if (!d->keys)
		check_scalar(w, &item, d);
}

static bool is_empty(const struct tree *t)
{
	return !t || t->kind == TREE_NULL || (t->kind == TREE_SCALAR ? !*t->scalar : t->n == 0);
}

static void check_keys(struct walk *w, const struct place *p, const struct field_accepts *d)
{
	const struct strv keys = strv_split(w->arena, d->one_key, '|');
	struct strv there = { 0 };

	for (size_t i = 0; i < keys.n; i++) {
		const struct tree *t = tree_lookup(p->value, keys.v[i]);

		if (t && t->kind != TREE_NULL)
			strv_add(w->arena, &there, keys.v[i]);
	}
	if (there.n != 1 && !(d->needed && is_empty(p->value)))
		tell(w, p, d, there.n ? strv_join(w->arena, &there, " and ") : "none of them",
		     NULL);
}

static void check_demand(struct walk *w, const struct place *p, const struct field_accepts *d)
{
	if (d->one_key)
		check_keys(w, p, d);
	else if (p->value->kind == TREE_SCALAR && !d->keys)
		check_scalar(w, p, d);
	else
		for (size_t i = 0; i < p->value->n; i++)
			check_item(w, p, d, i);
}

static void check_demands(struct walk *w, const struct place *p)
{
	const struct field_accepts *d = p->field->accepts;

	for (; d; d = d->next)
		if (accepts_holds(d->since, d->until, w->opts->minor))
			check_demand(w, p, d);
}

static void check_section(struct walk *w, const struct schema *s, const struct place *p);

/* Returns whether a value is of its row's kind, and tells one that is not: no reader may have looked. */
static bool is_of_kind(struct walk *w, const struct place *p)
{
	const enum field_kind kind = p->field->kind;
	const enum tree_kind shape = is_list(kind)          ? TREE_SEQ
				     : kind == FIELD_OBJECT ? TREE_MAP
							    : TREE_SCALAR;

	if (!w->opts->from || p->value->kind == TREE_NULL || p->value->kind == shape)
		return true;
	if (!is_empty(p->value))
		tell(w, p, &(struct field_accepts){ 0 },
		     field_found(w->arena, p->value, !p->secret), NULL);
	return false;
}

static void check_value(struct walk *w, const struct place *p)
{
	const struct schema *s = p->field->schema;
	const struct field object = { .kind = FIELD_OBJECT, .accepts = p->field->accepts };

	if (!is_of_kind(w, p))
		return;
	if (!s || p->value->kind != TREE_SEQ) {
		if (s)
			check_section(w, s, p);
		check_demands(w, p);
		return;
	}
	for (size_t i = 0; i < p->value->n; i++) {
		struct place item = *p;

		item.field = &object;
		item.key = item.path = arena_printf(w->arena, "%s[%zu]", p->path, i);
		item.value = p->value->items[i].value;
		if (!is_of_kind(w, &item))
			continue;
		check_section(w, s, &item);
		check_demands(w, &item);
	}
}

/* What must be there: its value's place, or that of the map without it. */
static void check_needed(struct walk *w, const struct field *f, const struct place *p)
{
	const struct tree *value = tree_lookup(p->value, f->key);

	for (const struct field_accepts *d = f->accepts; d; d = d->next)
		if (d->needed && accepts_holds(d->since, d->until, w->opts->minor) &&
		    is_empty(value)) {
			const struct field_accepts nothing = { .wanted = d->wanted,
							       .oneof = d->oneof };

			tell(w,
			     &(struct place){ .field = f,
					      .value = value ? value : p->value,
					      .path = field_path(w->arena, p->path, f->key) },
			     &nothing, "nothing", NULL);
		}
}

static void check_section(struct walk *w, const struct schema *s, const struct place *p)
{
	for (size_t i = 0; p->value->kind == TREE_MAP && i < s->n; i++)
		check_needed(w, &s->fields[i], p);
	for (size_t i = 0; p->value->kind == TREE_MAP && i < p->value->n; i++) {
		const struct tree_item *it = &p->value->items[i];
		const size_t row = field_row(s, it->key);
		const char *path;

		if (row == s->n || it->value->kind == TREE_NULL || it->value->is_wrong)
			continue;
		path = field_path(w->arena, p->path, it->key);
		check_value(w, &(struct place){ .field = &s->fields[row],
						.value = it->value,
						.key = path,
						.path = path,
						.secret = p->secret || s->fields[row].secret });
	}
}

void accepts_check(struct arena *a, const struct schema *s, const struct tree *map,
		   const struct accepts_opts *o, struct accepts_findings *ret)
{
	const struct field all = { .kind = FIELD_OBJECT, .schema = s };
	struct walk w = { a, o, ret };
	const struct place top = {
		.field = &all, .value = map, .path = o->path ? o->path : "", .secret = o->secret
	};

	if (o->from && is_empty(map))
		tell(&w, &top, &(struct field_accepts){ 0 }, "nothing", NULL);
	else
		check_value(&w, &top);
}
