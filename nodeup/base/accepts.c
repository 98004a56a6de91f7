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

/* A value, or an item of it. */
struct place {
	const struct walk *walk;
	const struct field *field;
	const struct tree *value;
	const char *key, *path; /* of the row, and of the item */
	bool secret;
};

bool accepts_holds(unsigned int since, unsigned int until, int minor)
{
	return (!since || minor >= (int)since) && (!until || minor <= (int)until);
}

static enum tree_kind shape_of(enum field_kind kind)
{
	if (kind == FIELD_LIST || kind == FIELD_STRV)
		return TREE_SEQ;
	return kind == FIELD_OBJECT ? TREE_MAP : TREE_SCALAR;
}

const char *accepts_wanted(struct arena *a, const struct field *f, const struct field_accepts *d)
{
	static const char *const shapes[] = {
		[TREE_SCALAR] = "a text", [TREE_SEQ] = "a list", [TREE_MAP] = "a map"
	};

	if (d->wanted)
		return d->wanted;
	if (!d->oneof)
		return shapes[shape_of(f->kind)];
	return arena_printf(a, "%s%s", strchr(d->oneof, '|') ? "one of " : "", d->oneof);
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
static bool number_of(const struct field *f, const char *word, int64_t *ret)
{
	const struct tree t = { .kind = TREE_SCALAR, .scalar = word };
	struct err ignored;

	if (f->kind == FIELD_OPT_DUR)
		return dur_parse(word, ret, &ignored) == 0;
	return field_integer(&t, ret) == 0;
}

/* The reader has told what it could not read. */
static bool is_in_range(const struct field *f, const struct field_accepts *d, const char *word)
{
	int64_t n;

	if (!number_of(f, word, &n))
		return f->kind != FIELD_STRING;
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

/* A value that is the row's flag_empty, in whichever form, is not given to the program. */
static bool is_unset(const struct field *f, const char *text)
{
	int64_t n, unset;

	if (!*text || !f->flag_empty)
		return !*text;
	return str_eq(text, f->flag_empty) ||
	       (number_of(f, text, &n) && number_of(f, f->flag_empty, &unset) && n == unset);
}

static void tell(const struct place *p, const struct field_accepts *d, const char *found,
		 const char *nearest)
{
	const struct accepts_opts *o = p->walk->opts;
	struct arena *a = p->walk->arena;
	const struct tree_pos *pos = &p->value->pos;
	const char *at =
		o->from ? arena_printf(a, "%s: line %u, column %u", o->from, pos->line, pos->column)
			: tree_where(a, pos);
	const struct accepts_finding found_one = {
		.key = o->key ? o->key : p->key,
		.text = arena_printf(a, "%s: %s%sexpected %s, found %s", at, p->path,
				     *p->path ? ": " : "", accepts_wanted(a, p->field, d), found),
		.nearest = p->secret ? NULL : nearest,
		.names = d->names,
	};

	arena_push(a, p->walk->ret->v, p->walk->ret->n, found_one);
}

static void check_word(const struct place *p, const struct field_accepts *d, const char *word)
{
	struct arena *a = p->walk->arena;
	const struct strv words = strv_split(a, d->oneof ? d->oneof : "", '|');
	const struct tree part = { .kind = TREE_SCALAR, .scalar = word };

	if ((d->oneof && !strv_has(&words, word)) || (d->is_valid && !d->is_valid(word)) ||
	    (d->pattern && !accepts_matches(d->pattern, word)) ||
	    ((d->min || d->max) && !is_in_range(p->field, d, word)))
		tell(p, d, field_found(a, d->commas ? &part : p->value, !p->secret),
		     near_name(word, words.v, words.n));
}

static void check_text(const struct place *p, const struct field_accepts *d)
{
	const char *text = field_text(p->value);
	struct strv words = { 0 };

	if (d->commas)
		words = strv_split(p->walk->arena, text, ',');
	else
		strv_add(p->walk->arena, &words, text);
	for (size_t i = 0; i < words.n && !is_unset(p->field, text); i++)
		check_word(p, d, words.v[i]);
}

static void check_keys(const struct place *p, const struct field_accepts *d)
{
	struct arena *a = p->walk->arena;
	const struct strv keys = strv_split(a, d->one_key, '|');
	struct strv there = { 0 };

	for (size_t i = 0; i < keys.n; i++) {
		const struct tree *t = tree_lookup(p->value, keys.v[i]);

		if (t && t->kind != TREE_NULL)
			strv_add(a, &there, keys.v[i]);
	}
	if (there.n != 1)
		tell(p, d, there.n ? strv_join(a, &there, " and ") : "none of them", NULL);
}

static struct place item_of(const struct place *p, size_t i)
{
	const struct tree_item *it = &p->value->items[i];
	struct place item = *p;

	item.value = it->value;
	item.path = it->key ? arena_printf(p->walk->arena, "%s.%s", p->path, it->key)
			    : arena_printf(p->walk->arena, "%s[%zu]", p->path, i);
	return item;
}

static void check_demand(const struct place *p, const struct field_accepts *d);

/* An item, or its key. */
static void check_item(const struct place *p, const struct field_accepts *d, size_t i)
{
	const struct tree_item *it = &p->value->items[i];
	const struct tree key = { .kind = TREE_SCALAR, .pos = it->key_pos, .scalar = it->key };
	struct place item = item_of(p, i);

	if (d->pairs)
		check_word(&item, d,
			   arena_printf(p->walk->arena, "%s=%s", it->key, field_text(it->value)));
	else if (d->keys && it->key) {
		item.value = &key;
		check_word(&item, d, it->key);
	} else if (!d->keys && !it->value->is_wrong)
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

/* Returns whether a value is of its row's kind, and tells one that is not: no reader may have looked. */
static bool is_of_kind(const struct place *p)
{
	if (!p->walk->opts->from || p->value->kind == shape_of(p->field->kind))
		return true;
	tell(p, &(struct field_accepts){ 0 }, field_found(p->walk->arena, p->value, !p->secret),
	     NULL);
	return false;
}

static void check_rows(const struct place *p);

static void check_items(const struct place *p)
{
	const struct field object = { .kind = FIELD_OBJECT, .schema = p->field->schema };

	for (size_t i = 0; i < p->value->n; i++) {
		struct place item = item_of(p, i);

		item.field = &object;
		if (item.value->kind != TREE_NULL && is_of_kind(&item))
			check_rows(&item);
	}
}

/* What must be there, and is not, is at the place of the map without it. */
static void check_value(const struct place *p, bool is_given)
{
	if (is_given && p->field->schema && p->value->kind == TREE_SEQ)
		check_items(p);
	else if (is_given && p->field->schema)
		check_rows(p);
	for (const struct field_accepts *d = p->field->accepts; d; d = d->next) {
		struct field_accepts always = *d;

		always.names = false;
		if (!accepts_holds(d->since, d->until, p->walk->opts->minor))
			continue;
		if (is_given)
			check_demand(p, d);
		else if (d->needed)
			tell(p, &always, "nothing", NULL);
	}
}

/* A section that says nothing is given: what must be in it is told. */
static bool is_given(const struct field *f, const struct tree *t)
{
	if (!t || t->kind == TREE_NULL)
		return false;
	if (t->kind == TREE_SCALAR)
		return *t->scalar;
	return t->n > 0 || (f->kind == FIELD_OBJECT && f->schema);
}

static void check_rows(const struct place *p)
{
	const struct schema *s = p->field->schema;

	for (size_t i = 0; p->value->kind == TREE_MAP && i < s->n; i++) {
		const struct field *f = &s->fields[i];
		const struct tree *value = tree_lookup(p->value, f->key);
		const bool given = is_given(f, value);
		struct place row = *p;

		if (!value && !f->accepts)
			continue;
		row.field = f;
		row.value = value ? value : p->value;
		row.key = row.path = field_path(p->walk->arena, p->path, f->key);
		row.secret |= f->secret;
		if (!row.value->is_wrong && (!given || is_of_kind(&row)))
			check_value(&row, given);
	}
}

void accepts_check(struct arena *a, const struct schema *s, const struct tree *map,
		   const struct accepts_opts *o, struct accepts_findings *ret)
{
	const struct field all = { .kind = FIELD_OBJECT, .schema = s };
	const struct walk w = { a, o, ret };
	const struct place top = { &w, &all, map, .path = o->path ? o->path : "",
				   .secret = o->secret };

	if (is_of_kind(&top))
		check_rows(&top);
}
