#include "nodeup/base/field.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"
#include "nodeup/base/near.h"

/* A value in the document, and its place in the struct. */
struct place {
	const struct field *field;
	const struct tree *value;
	const char *path; /* "kubelet.maxPods" */
	void *member;
};

struct reader {
	struct arena *arena;
	const struct field_opts *opts;
	struct err *err;
};

/* Returns the result if reading must stop; 0 if there is no error, or if the error was kept. */
static int go_on(const struct reader *r, int result)
{
	return errs_keep(r->opts->errors, result, r->err);
}

/* Like go_on, but for a value that every document needs. */
static int go_on_vital(const struct reader *r, int result)
{
	return errs_keep_vital(r->opts->errors, result, r->err);
}

static bool is_secret(const struct reader *r, const struct place *p)
{
	return r->opts->secret || p->field->secret;
}

/* Makes the error "expected ..., found ...". Shows neither a value in the place of a whole document, nor an item
 * that its own reader splits: both may hold anything. */
static int expected(struct reader *r, const struct place *p, const char *what)
{
	const char *where = tree_where(r->arena, &p->value->pos);

	return err_config(r->err, "%s%s%s%sexpected %s, found %s", where, *where ? ": " : "",
			  p->path, *p->path ? ": " : "", what,
			  field_found(r->arena, p->value, p->field && !is_secret(r, p)));
}

static bool is_allowed(const char *oneof, const char *s)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv words = strv_split(a, oneof, '|');

	return strv_has(&words, s);
}

/* Fails because the value is none of the row's words. Names the word that was probably meant. */
static int not_allowed(struct reader *r, const struct place *p, const char *s)
{
	const struct strv words = strv_split(r->arena, p->field->oneof, '|');
	const char *nearest = is_secret(r, p) ? NULL : near_name(s, words.v, words.n);
	struct strv shown = { 0 };
	int e;

	for (size_t i = 0; i < words.n; i++)
		if (*words.v[i])
			strv_add(r->arena, &shown, words.v[i]);
	e = expected(r, p,
		     arena_printf(r->arena, "%s%s", shown.n > 1 ? "one of " : "",
				  strv_join(r->arena, &shown, "|")));
	if (nearest && *nearest)
		err_note(r->err, "do", "did you mean %s?", nearest);
	return e;
}

/* Reads a string, which is a row's whole value, or belongs to the row's list or map. */
static int read_text(struct reader *r, const struct place *p, const char **ret)
{
	const struct field_format *format = p->field->format;
	const char *s;

	if (p->value->kind != TREE_SCALAR && p->value->kind != TREE_NULL)
		return expected(r, p, "a string");
	s = field_text(p->value);
	if (p->field->oneof && !is_allowed(p->field->oneof, s))
		return not_allowed(r, p, s);
	s = format ? format_fold(r->arena, format, s) : s;
	/* in most rows an empty string counts as missing; an empty item of a list or map does not */
	if (format && (*s || p->field->filled || p->field->kind != FIELD_STRING) &&
	    !format_is_valid(format, s))
		return expected(r, p, format->wanted);
	*ret = s;
	return 0;
}

static int read_bool(struct reader *r, const struct place *p, bool *ret)
{
	const struct tree *t = p->value;

	if (t->kind != TREE_SCALAR || t->quoted || tree_type_of(t->scalar) != TREE_IS_BOOL)
		return expected(r, p, "true or false");
	*ret = tree_is_true(t->scalar);
	return 0;
}

static int read_int(struct reader *r, const struct place *p, int64_t *ret)
{
	int64_t v = 0;
	int e = field_integer(p->value, &v);

	if (e == -EINVAL)
		return expected(r, p, "an integer");
	if (e < 0 || (!p->field->wide && (v < INT32_MIN || v > INT32_MAX)))
		return expected(r, p,
				p->field->wide ? "an integer of 64 bits" : "an integer of 32 bits");
	if ((p->field->min || p->field->max) && (v < p->field->min || v > p->field->max))
		return expected(r, p,
				arena_printf(r->arena, "an integer from %lld to %lld",
					     (long long)p->field->min, (long long)p->field->max));
	*ret = v;
	return 0;
}

static int read_duration(struct reader *r, const struct place *p, int64_t *ret)
{
	struct err problem = { 0 };

	if (p->value->kind != TREE_SCALAR || dur_parse(p->value->scalar, ret, &problem) < 0)
		return expected(r, p, "a duration such as 1m30s");
	return 0;
}

/* Reads one string of a list or map; "" if it is wrong and its error is kept. */
static int read_item(struct reader *r, const struct place *p, struct tree *value, const char *path,
		     const char **ret)
{
	const struct place item = { .field = p->field, .value = value, .path = path };
	int e;

	*ret = "";
	e = read_text(r, &item, ret);
	value->is_wrong |= e < 0;
	return go_on(r, e);
}

static int read_strv(struct reader *r, const struct place *p, struct strv *ret)
{
	struct strv v = { 0 };

	if (p->value->kind != TREE_SEQ)
		return expected(r, p, "a list of strings");
	for (size_t i = 0; i < p->value->n; i++) {
		const char *s;
		int e = read_item(r, p, p->value->items[i].value,
				  arena_printf(r->arena, "%s[%zu]", p->path, i), &s);

		if (e < 0)
			return e;
		strv_add(r->arena, &v, s);
	}
	*ret = v;
	return 0;
}

char *field_unknown_text(struct arena *a, const char *what, const struct field_unknown *u)
{
	autoarena struct arena *scratch = arena_new_empty();
	const char *where = tree_where(scratch, u->pos);

	return u->nearest ? arena_printf(a, "%s: unknown %s '%s'; did you mean '%s'?", where, what,
					 u->path, u->nearest)
			  : arena_printf(a, "%s: unknown %s '%s'", where, what, u->path);
}

static void tell_unknown(const struct reader *r, const struct tree_item *it, const char *path,
			 const struct strv *known)
{
	const char *nearest = near_name(it->key, known->v, known->n);
	const struct field_unknown u = {
		.pos = &it->key_pos,
		.path = path,
		.value = it->value,
		.nearest = nearest,
		.distance = nearest    ? near_edits(it->key, nearest)
			    : known->n ? SIZE_MAX
				       : SIZE_MAX - 1,
	};

	if (r->opts->unknown)
		r->opts->unknown(r->opts->arg, &u);
}

/* Fails if a map has a key that is none of the row's words. */
static void check_key(struct reader *r, const struct place *p, const struct tree_item *it)
{
	autoarena struct arena *scratch = NULL;
	struct strv known;

	if (!p->field->keys || is_allowed(p->field->keys, it->key))
		return;
	scratch = arena_new_empty();
	known = strv_split(scratch, p->field->keys, '|');
	tell_unknown(r, it, arena_printf(r->arena, "%s.%s", p->path, it->key), &known);
}

static int read_strmap(struct reader *r, const struct place *p, struct strmap *ret)
{
	struct strmap m = { 0 };

	if (p->value->kind != TREE_MAP)
		return expected(r, p, "a map of strings");
	for (size_t i = 0; i < p->value->n; i++) {
		const struct tree_item *it = &p->value->items[i];
		const char *s;
		int e;

		check_key(r, p, it);
		e = read_item(r, p, it->value, arena_printf(r->arena, "%s.%s", p->path, it->key),
			      &s);
		if (e < 0)
			return e;
		/* keys of a parsed map are unique already */
		arena_push(r->arena, m.v, m.n, (struct strmap_item){ it->key, s });
	}
	*ret = m;
	return 0;
}

static int read_tree(struct reader *r, const struct place *p)
{
	if (p->field->shape != TREE_NULL && p->value->kind != p->field->shape)
		return expected(r, p,
				p->field->shape == TREE_MAP   ? "a map"
				: p->field->shape == TREE_SEQ ? "a list"
							      : "a single value");
	*(const struct tree **)p->member = p->value;
	return 0;
}

static struct field_opts below(const struct reader *r, const struct place *p, const char *path)
{
	struct field_opts opts = *r->opts;

	opts.path = path;
	opts.secret = is_secret(r, p);
	return opts;
}

static bool is_section(const struct tree *t)
{
	return t->kind == TREE_MAP || t->kind == TREE_NULL;
}

static int read_section(struct reader *r, const struct place *p)
{
	const struct field_opts opts = below(r, p, p->path);

	if (!is_section(p->value))
		return expected(r, p, "a map");
	return field_parse(r->arena, p->field->schema, p->value, p->member, &opts, r->err);
}

static int read_list(struct reader *r, const struct place *p)
{
	const struct schema *s = p->field->schema;
	struct {
		void *v;
		size_t n;
	} list = { 0 };

	if (p->value->kind != TREE_SEQ)
		return expected(r, p, "a list");
	list.n = p->value->n;
	list.v = arena_alloc(r->arena, list.n * s->size);
	for (size_t i = 0; i < list.n; i++) {
		const struct place item = {
			.field = p->field,
			.value = p->value->items[i].value,
			.path = arena_printf(r->arena, "%s[%zu]", p->path, i),
			.member = (char *)list.v + i * s->size,
		};
		/* an error here is vital, since the item would be empty */
		int e = go_on_vital(r, read_section(r, &item));

		if (e < 0)
			return e;
	}
	memcpy(p->member, &list, sizeof(list));
	return 0;
}

static int read_optional(struct reader *r, const struct place *p)
{
	struct opt_bool *b = p->member;
	struct opt_int *n = p->member;
	struct opt_dur *d = p->member;
	int e = p->field->kind == FIELD_OPT_BOOL  ? read_bool(r, p, &b->v)
		: p->field->kind == FIELD_OPT_INT ? read_int(r, p, &n->v)
						  : read_duration(r, p, &d->ns);

	_Static_assert(offsetof(struct opt_bool, set) == 0 && offsetof(struct opt_int, set) == 0 &&
			       offsetof(struct opt_dur, set) == 0,
		       "each begins with it");
	if (e == 0)
		*(bool *)p->member = true;
	return e;
}

static int read_value(struct reader *r, const struct place *p)
{
	switch (p->field->kind) {
	case FIELD_STRING:
		return read_text(r, p, p->member);
	case FIELD_BOOL:
		return read_bool(r, p, p->member);
	case FIELD_INT:
		return read_int(r, p, p->member);
	case FIELD_OPT_BOOL:
	case FIELD_OPT_INT:
	case FIELD_OPT_DUR:
		return read_optional(r, p);
	case FIELD_STRV:
		return read_strv(r, p, p->member);
	case FIELD_STRMAP:
		return read_strmap(r, p, p->member);
	case FIELD_OBJECT:
		return read_section(r, p);
	case FIELD_LIST:
		return read_list(r, p);
	case FIELD_TREE:
		return read_tree(r, p);
	}
	return 0;
}

/* Returns the key as a message may show it. `{user:password@proxy}` is a key without a value, so a secret's key is
 * shown only if it looks like a key. */
static const char *shown_key(const struct reader *r, const struct tree_item *it)
{
	const bool is_key = it->value->kind != TREE_NULL && str_has_only(it->key, "-_");

	return is_key || !r->opts->secret ? it->key : "(not shown)";
}

/* Reports an unknown key. Compares it with the known keys only if it cannot be a password. */
static void unknown_key(const struct reader *r, const struct schema *s, const struct tree_item *it)
{
	autoarena struct arena *scratch = arena_new_empty();
	struct strv known = { 0 };

	for (size_t i = 0; i < s->n && !r->opts->secret; i++)
		strv_add(scratch, &known, s->fields[i].key);
	tell_unknown(r, it, field_path(r->arena, r->opts->path, shown_key(r, it)), &known);
}

static int duplicate(struct reader *r, const struct tree_item *it, const struct tree_item *first)
{
	return err_config(r->err, "%s: duplicate key '%s', on line %u as '%s'",
			  tree_where(r->arena, &it->key_pos), it->key, first->key_pos.line,
			  first->key);
}

static int missing(struct reader *r, const struct tree *map, const char *key)
{
	return err_config(r->err, "%s: '%s' is missing", tree_where(r->arena, &map->pos),
			  field_path(r->arena, r->opts->path, key));
}

/* Returns whether an unknown key was probably meant to be this row's key. */
static bool is_slip_of(const struct reader *r, const struct schema *s, const struct tree *map,
		       const char *key)
{
	for (size_t i = 0; r->opts->refuses_slips && i < map->n; i++)
		if (field_row(s, map->items[i].key) == s->n &&
		    near_edits(map->items[i].key, key) == 1)
			return true;
	return false;
}

static int check_required(struct reader *r, const struct schema *s, const struct tree *map,
			  const struct tree_item *const *seen)
{
	int e = 0;

	for (size_t i = 0; i < s->n && e == 0; i++)
		if (s->fields[i].required && (!seen[i] || seen[i]->value->kind == TREE_NULL) &&
		    !is_slip_of(r, s, map, s->fields[i].key))
			e = go_on_vital(r, missing(r, map, s->fields[i].key));
	return e;
}

static void show_rows(const struct reader *r, const struct schema *s, const struct tree *map,
		      const struct tree_item *const *seen)
{
	for (size_t i = 0; r->opts->look && i < s->n; i++) {
		const struct field *f = &s->fields[i];

		if (f->accepts)
			r->opts->look(r->opts->arg,
				      &(struct field_seen){
					      .field = f,
					      .value = seen[i] ? seen[i]->value : NULL,
					      .map = map,
					      .path = field_path(r->arena, r->opts->path, f->key),
					      .secret = r->opts->secret || f->secret,
				      });
	}
}

void field_add_unknown(struct field_unknowns *u, const char *text, size_t distance)
{
	arena_push(u->arena, u->v, u->n, (struct field_stray){ text, distance });
}

void field_note_unknown(void *arg, const struct field_unknown *key)
{
	struct field_unknowns *u = arg;
	const char *text = field_unknown_text(u->arena, "key", key);

	if (u->slips_apart && key->nearest && key->distance == 1 && !strpbrk(key->path, ".["))
		strv_add(u->arena, &u->slips, text);
	else
		field_add_unknown(u, text, key->distance);
}

void field_add_unknowns(struct field_unknowns *u, const struct field_unknowns *more)
{
	/* shares the list instead of copying it: there may be thousands of keys */
	if (u->n == 0) {
		u->v = more->v;
		u->n = more->n;
		return;
	}
	for (size_t i = 0; i < more->n; i++)
		field_add_unknown(u, more->v[i].text, more->v[i].distance);
}

struct strv field_unknown_texts(struct arena *a, const struct field_unknowns *u)
{
	struct strv texts = { 0 };
	size_t next = 0;

	/* only a few different distances occur, and all but the last are small */
	for (size_t now = 0; u->n; now = next) {
		next = SIZE_MAX;
		for (size_t i = 0; i < u->n; i++) {
			const size_t distance = u->v[i].distance;

			if (distance == now)
				strv_add(a, &texts, u->v[i].text);
			else if (distance > now && distance < next)
				next = distance;
		}
		if (now == SIZE_MAX)
			break;
	}
	return texts;
}

int field_parse(struct arena *a, const struct schema *s, const struct tree *map, void *obj,
		const struct field_opts *opts, struct err *e)
{
	static const struct field_opts none = { 0 };
	struct reader r = { a, opts ? opts : &none, e };
	const struct tree_item **seen;
	int ret;

	if (!is_section(map))
		return expected(&r, &(struct place){ .value = map, .path = r.opts->path ?: "" },
				"a map");
	seen = arena_alloc(a, s->n * sizeof(*seen));
	for (size_t i = 0; i < map->n; i++) {
		const struct tree_item *it = &map->items[i];
		const size_t row = field_row(s, it->key);
		struct place p = { .value = it->value,
				   .path = field_path(a, r.opts->path, it->key) };
		int wrong;

		if (row == s->n) {
			unknown_key(&r, s, it);
			continue;
		}
		if (seen[row]) {
			ret = r.opts->look ? 0 : go_on(&r, duplicate(&r, it, seen[row]));
			if (ret < 0)
				return ret;
			continue;
		}
		seen[row] = it;
		if (it->value->kind == TREE_NULL)
			continue;
		p.field = &s->fields[row];
		p.member = (char *)obj + p.field->offset;
		wrong = read_value(&r, &p);
		if (r.opts->look && field_says_nothing(it->value))
			wrong = 0;
		it->value->is_wrong |= wrong < 0;
		ret = p.field->required ? go_on_vital(&r, wrong) : go_on(&r, wrong);
		if (ret < 0)
			return ret;
		if (wrong == 0 && p.field->present_offset != FIELD_ALWAYS)
			*(bool *)((char *)obj + p.field->present_offset) = true;
	}
	show_rows(&r, s, map, seen);
	return check_required(&r, s, map, seen);
}
