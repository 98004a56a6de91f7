#include "nodeup/template/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/print.h"

/* One step is the work of a short comparison. A longer comparison takes several steps. */
enum { BYTES_A_STEP = 64, INT_DIGITS = 32 };

int work_spend(struct work *w, size_t at, size_t touched)
{
	const size_t steps = 1 + touched / BYTES_A_STEP;

	if (steps > w->steps) {
		w->steps = 0;
		return source_fail(w->source, at, "rendering takes too many steps");
	}
	w->steps -= steps;
	return 0;
}

void *work_alloc(struct work *w, size_t at, size_t size)
{
	if (size > w->bytes) {
		w->bytes = 0;
		(void)source_fail(w->source, at, "rendering makes too many values");
		return NULL;
	}
	w->bytes -= size;
	return arena_alloc(w->a, size ? size : 1);
}

struct list *list_new(struct work *w, size_t at, size_t n)
{
	struct list *const l = work_alloc(w, at, sizeof(*l) + n * sizeof(*l->v));

	if (l)
		l->v = (struct value *)(l + 1);
	return l;
}

static bool is_ascii(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)p[i] >= 0x80)
			return false;
	return true;
}

struct value value_text(const char *p, size_t n)
{
	return (struct value){ .kind = V_TEXT, .text = { p, n, !is_ascii(p, n) } };
}

struct value value_bool(bool yes)
{
	return (struct value){ .kind = V_BOOL, .yes = yes };
}

struct value value_int(int64_t i)
{
	return (struct value){ .kind = V_INT, .i = i };
}

/* Returns whether both ways of Python 2 to write a number give the same text: with 12 digits, or with as many as it
 * needs. Which way Python takes depends on what Jinja computes at compile time. */
static bool is_plain_float(double f)
{
	const double size = fabs(f);
	char digits[INT_DIGITS];

	if (f == 0)
		return true;
	if (!isfinite(f) || size < 1e-4 || size >= 1e11)
		return false;
	(void)print_to(digits, sizeof(digits), "%.12g", f);
	return strtod(digits, NULL) == f;
}

int value_float(const struct source *s, size_t at, double f, struct value *ret)
{
	if (!is_plain_float(f))
		return source_fail(s, at,
				   "the number %.17g: with a fraction, at most 12 digits and below "
				   "100000000000",
				   f);
	*ret = (struct value){ .kind = V_FLOAT, .f = f };
	return 0;
}

/* Names the path to a wrong value of the context: no line of a template can name it. */
static int given_wrong(struct work *w, const struct tree *t, const char *what)
{
	const char *where = tree_where(w->a, &t->pos);

	return err_config(w->source->e, "%s%s%s is handed in to template '%s'", where,
			  *where ? ": " : "", what, w->source->file);
}

static bool is_decimal(const char *s)
{
	s += *s == '-';
	return (*s == '0' && s[1] == '\0') ||
	       (*s >= '1' && *s <= '9' && !s[strspn(s, "0123456789")]);
}

static int given_scalar(struct work *w, const struct tree *t, bool wide, struct value *ret)
{
	const enum tree_type type = t->quoted ? TREE_IS_STRING : tree_type_of(t->scalar);

	switch (type) {
	case TREE_IS_NULL:
		*ret = (struct value){ .kind = V_NONE };
		return 0;
	case TREE_IS_BOOL:
		*ret = value_bool(tree_is_true(t->scalar));
		return 0;
	case TREE_IS_INT:
		errno = 0;
		*ret = value_int(strtoll(t->scalar, NULL, 10));
		if (errno || !is_decimal(t->scalar))
			return given_wrong(w, t, "a number that is not decimal, or too large,");
		return 0;
	case TREE_IS_FLOAT:
		*ret = (struct value){ .kind = V_FLOAT, .f = strtod(t->scalar, NULL) };
		if (strspn(t->scalar, "+-0123456789.eE") != strlen(t->scalar) ||
		    !is_plain_float(ret->f))
			return given_wrong(w, t, "a number of more than 12 digits");
		return 0;
	case TREE_IS_STRING:
		break;
	}
	*ret = value_text(t->scalar, strlen(t->scalar));
	ret->text.wide |= wide;
	return 0;
}

static int given_any(struct work *w, const struct tree *t, bool wide, size_t depth,
		     struct value *ret);

static int given_list(struct work *w, const struct tree *t, size_t depth, struct value *ret)
{
	struct list *const l = list_new(w, 0, t->n);
	int r;

	if (!l)
		return -EINVAL;
	for (; l->n < t->n; l->n++) {
		r = given_any(w, t->items[l->n].value, false, depth + 1, &l->v[l->n]);
		if (r < 0)
			return r;
	}
	*ret = (struct value){ .kind = V_LIST, .list = l };
	return 0;
}

static int given_dict(struct work *w, const struct tree *t, size_t depth, struct value *ret)
{
	struct dict *d = work_alloc(w, 0, sizeof(*d) + t->n * sizeof(*d->v));
	int r;

	if (!d)
		return -EINVAL;
	*d = (struct dict){ .v = (struct pair *)(d + 1), .given = true };
	for (; d->n < t->n; d->n++) {
		const char *key = t->items[d->n].key;

		d->v[d->n].key = value_text(key, strlen(key)).text;
		r = given_any(w, t->items[d->n].value, false, depth + 1, &d->v[d->n].value);
		if (r < 0)
			return r;
	}
	*ret = (struct value){ .kind = V_DICT, .dict = d };
	return 0;
}

static int given_any(struct work *w, const struct tree *t, bool wide, size_t depth,
		     struct value *ret)
{
	int r;

	if (depth > w->depth)
		return given_wrong(w, t, "a value that is nested too deep");
	r = work_spend(w, 0, 0);
	if (r < 0)
		return r;
	switch (t->kind) {
	case TREE_NULL:
		*ret = (struct value){ .kind = V_NONE };
		return 0;
	case TREE_SCALAR:
		return given_scalar(w, t, wide, ret);
	case TREE_SEQ:
		return given_list(w, t, depth, ret);
	case TREE_MAP:
		break;
	}
	return given_dict(w, t, depth, ret);
}

int value_of_tree(struct work *w, const struct tree *t, bool wide, struct value *ret)
{
	return given_any(w, t, wide, 0, ret);
}

const char *value_kind_name(const struct value *v)
{
	static const char *const names[] = {
		[V_UNSET] = "nothing",     [V_UNDEFINED] = "something undefined",
		[V_NONE] = "None",         [V_BOOL] = "a boolean",
		[V_INT] = "a number",      [V_FLOAT] = "a number",
		[V_TEXT] = "a text",       [V_LIST] = "a list",
		[V_DICT] = "a dictionary",
	};

	return names[v->kind];
}

int value_need(struct work *w, size_t at, const struct value *v)
{
	if (v->kind != V_UNDEFINED)
		return 0;
	return source_fail(w->source, at, "'%.*s' is not defined",
			   v->lacks.n < 80 ? (int)v->lacks.n : 80, v->lacks.p);
}

int value_truth(struct work *w, size_t at, const struct value *v, bool *ret)
{
	switch (v->kind) {
	case V_UNSET:
	case V_UNDEFINED:
		return value_need(w, at, v);
	case V_NONE:
		*ret = false;
		break;
	case V_BOOL:
		*ret = v->yes;
		break;
	case V_INT:
		*ret = v->i != 0;
		break;
	case V_FLOAT:
		*ret = v->f != 0;
		break;
	case V_TEXT:
		*ret = v->text.n != 0;
		break;
	case V_LIST:
		*ret = v->list->n != 0;
		break;
	case V_DICT:
		*ret = v->dict->n != 0;
		break;
	}
	return 0;
}

bool value_is_integer(const struct value *v)
{
	return v->kind == V_INT || v->kind == V_BOOL;
}

int64_t value_integer(const struct value *v)
{
	return v->kind == V_INT ? v->i : v->yes;
}

bool value_is_number(const struct value *v)
{
	return value_is_integer(v) || v->kind == V_FLOAT;
}

/* Wide enough for both kinds: no int64_t and no double is rounded. */
static long double number_of(const struct value *v)
{
	return v->kind == V_FLOAT ? (long double)v->f : (long double)value_integer(v);
}

static bool text_eq(const struct text *a, const struct text *b)
{
	return a->n == b->n && memcmp(a->p, b->p, a->n) == 0;
}

/* A comparison, and its result: -1, 0 or 1 as memcmp has it; 2 if the values are not equal and nobody asked for
 * their order. */
struct comparison {
	bool ordered; /* the question is >=, not == */
	int result;
};

static int compare(struct work *w, size_t at, const struct value *a, const struct value *b,
		   size_t depth, struct comparison *c);

static int compare_texts(struct work *w, size_t at, const struct text *a, const struct text *b,
			 struct comparison *c)
{
	const size_t least = a->n < b->n ? a->n : b->n;
	int r;

	if (!c->ordered && a->n != b->n) {
		c->result = 2;
		return 0;
	}
	r = work_spend(w, at, least);
	if (r < 0)
		return r;
	/* UTF-8 sorts in the order of code points */
	c->result = memcmp(a->p, b->p, least);
	if (c->result == 0 && a->n != b->n)
		c->result = a->n < b->n ? -1 : 1;
	return 0;
}

static int compare_lists(struct work *w, size_t at, const struct list *a, const struct list *b,
			 size_t depth, struct comparison *c)
{
	if (!c->ordered && a->n != b->n) {
		c->result = 2;
		return 0;
	}
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		struct comparison equal = { 0 };
		int r = compare(w, at, &a->v[i], &b->v[i], depth + 1, &equal);

		if (r < 0)
			return r;
		if (equal.result != 0)
			return c->ordered ? compare(w, at, &a->v[i], &b->v[i], depth + 1, c)
					  : (c->result = 2, 0);
	}
	c->result = a->n == b->n ? 0 : a->n < b->n ? -1 : 1;
	return 0;
}

static int compare_dicts(struct work *w, size_t at, const struct dict *a, const struct dict *b,
			 size_t depth, struct comparison *c)
{
	if (c->ordered)
		return source_fail(w->source, at, "dictionaries have no order");
	c->result = a->n == b->n ? 0 : 2;
	for (size_t i = 0; i < a->n && c->result == 0; i++) {
		struct pair *other;
		int r = dict_find(w, at, b, &a->v[i].key, &other);

		if (r < 0)
			return r;
		if (!other)
			c->result = 2;
		else
			r = compare(w, at, &a->v[i].value, &other->value, depth + 1, c);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Python 2 orders values of different types too: None first, then numbers, then by the name of the type. */
static int place_of(const struct value *v)
{
	return v->kind == V_NONE    ? 0
	       : value_is_number(v) ? 1
	       : v->kind == V_DICT  ? 2
	       : v->kind == V_LIST  ? 3
				    : 4;
}

static int compare(struct work *w, size_t at, const struct value *a, const struct value *b,
		   size_t depth, struct comparison *c)
{
	int r;

	if (depth > w->depth)
		return source_fail(w->source, at, "values are nested too deep");
	r = work_spend(w, at, 0);
	if (r == 0)
		r = value_need(w, at, a);
	if (r == 0)
		r = value_need(w, at, b);
	if (r < 0)
		return r;
	if (place_of(a) != place_of(b)) {
		c->result = place_of(a) < place_of(b) ? -1 : 1;
		return 0;
	}
	if (value_is_number(a)) {
		const long double x = number_of(a), y = number_of(b);

		c->result = x == y ? 0 : x < y ? -1 : 1;
		return 0;
	}
	switch (a->kind) {
	case V_TEXT:
		return compare_texts(w, at, &a->text, &b->text, c);
	case V_LIST:
		return compare_lists(w, at, a->list, b->list, depth, c);
	case V_DICT:
		return compare_dicts(w, at, a->dict, b->dict, depth, c);
	default:
		c->result = 0;
		return 0;
	}
}

int value_equal(struct work *w, size_t at, const struct value *a, const struct value *b, bool *ret)
{
	struct comparison c = { .ordered = false };
	const int r = compare(w, at, a, b, 0, &c);

	*ret = c.result == 0;
	return r;
}

int value_at_least(struct work *w, size_t at, const struct value *a, const struct value *b,
		   bool *ret)
{
	struct comparison c = { .ordered = true };
	const int r = compare(w, at, a, b, 0, &c);

	*ret = c.result >= 0;
	return r;
}

int value_contains(struct work *w, size_t at, const struct value *a, const struct value *b,
		   bool *ret)
{
	struct pair *found = NULL;
	int r = value_need(w, at, a);

	if (r == 0)
		r = value_need(w, at, b);
	if (r < 0)
		return r;
	*ret = false;
	switch (a->kind) {
	case V_TEXT:
		if (b->kind != V_TEXT)
			break;
		*ret = b->text.n == 0 || memmem(a->text.p, a->text.n, b->text.p, b->text.n);
		return work_spend(w, at, a->text.n);
	case V_LIST:
		for (size_t i = 0; i < a->list->n && !*ret && r == 0; i++)
			r = value_equal(w, at, b, &a->list->v[i], ret);
		return r;
	case V_DICT:
		if (b->kind == V_LIST || b->kind == V_DICT)
			break;
		if (b->kind == V_TEXT)
			r = dict_find(w, at, a->dict, &b->text, &found);
		*ret = found;
		return r;
	default:
		break;
	}
	return source_fail(w->source, at, "%s cannot be in %s", value_kind_name(b),
			   value_kind_name(a));
}

int value_need_ascii(struct work *w, size_t at, const struct value *text)
{
	const int r = work_spend(w, at, text->text.n);

	if (r < 0 || is_ascii(text->text.p, text->text.n))
		return r;
	return source_fail(w->source, at, "a text that is not ASCII");
}

/* Adds a text as a list shows it: quoted, with the kind of quote that the text does not hold. */
static int add_quoted(struct work *w, size_t at, const struct value *v, struct buf *b)
{
	const struct text *t = &v->text;
	const char quote = memchr(t->p, '\'', t->n) && !memchr(t->p, '"', t->n) ? '"' : '\'';
	int r;

	r = value_need_ascii(w, at, v);
	if (r < 0)
		return r;
	if (t->wide)
		(void)buf_addc(b, 'u');
	(void)buf_addc(b, quote);
	for (size_t i = 0; i < t->n; i++) {
		const char c = t->p[i];
		const char *const named = strchr("\tt\nn\rr", c);

		if (c == quote || c == '\\')
			(void)buf_addf(b, "\\%c", c);
		else if (c == '\t' || c == '\n' || c == '\r')
			(void)buf_addf(b, "\\%c", named[1]);
		else if (c < 0x20 || c == 0x7f)
			(void)buf_addf(b, "\\x%02x", (unsigned int)c);
		else
			(void)buf_addc(b, c);
	}
	(void)buf_addc(b, quote);
	return 0;
}

static int add_value(struct work *w, size_t at, const struct value *v, size_t depth, struct buf *b);

static int add_list(struct work *w, size_t at, const struct list *l, size_t depth, struct buf *b)
{
	int r = 0;

	(void)buf_addc(b, '[');
	for (size_t i = 0; i < l->n && r == 0; i++) {
		if (i)
			(void)buf_adds(b, ", ");
		r = add_value(w, at, &l->v[i], depth + 1, b);
	}
	(void)buf_addc(b, ']');
	return r;
}

static int add_dict(struct work *w, size_t at, const struct dict *d, size_t depth, struct buf *b)
{
	struct value key = { .kind = V_TEXT };
	int r;

	if (d->n > 1)
		return source_fail(w->source, at,
				   "a dictionary of %zu keys, whose order is not defined", d->n);
	if (d->n == 0) {
		(void)buf_adds(b, "{}");
		return 0;
	}
	key.text = d->v[0].key;
	(void)buf_addc(b, '{');
	r = add_quoted(w, at, &key, b);
	(void)buf_adds(b, ": ");
	if (r == 0)
		r = add_value(w, at, &d->v[0].value, depth + 1, b);
	(void)buf_addc(b, '}');
	return r;
}

static void add_float(double f, struct buf *b)
{
	char digits[INT_DIGITS];

	(void)print_to(digits, sizeof(digits), "%.12g", f);
	(void)buf_adds(b, digits);
	if (!strchr(digits, '.'))
		(void)buf_adds(b, ".0");
}

/* Writes a value as a list shows it; only there a text is quoted. */
static int add_value(struct work *w, size_t at, const struct value *v, size_t depth, struct buf *b)
{
	int r;

	if (depth > w->depth)
		return source_fail(w->source, at, "values are nested too deep");
	r = work_spend(w, at, 0);
	if (r < 0)
		return r;
	switch (v->kind) {
	case V_UNSET:
	case V_UNDEFINED:
		return value_need(w, at, v);
	case V_NONE:
		(void)buf_adds(b, "None");
		break;
	case V_BOOL:
		(void)buf_adds(b, v->yes ? "True" : "False");
		break;
	case V_INT:
		(void)buf_addf(b, "%" PRId64, v->i);
		break;
	case V_FLOAT:
		add_float(v->f, b);
		break;
	case V_TEXT:
		return add_quoted(w, at, v, b);
	case V_LIST:
		return add_list(w, at, v->list, depth, b);
	case V_DICT:
		return add_dict(w, at, v->dict, depth, b);
	}
	return 0;
}

int value_str(struct work *w, size_t at, const struct value *v, struct value *ret)
{
	autobuf struct buf b = BUF_INIT(w->bytes);
	char *room;
	int r;

	if (v->kind == V_TEXT) {
		*ret = *v;
		ret->text.wide = true;
		return 0;
	}
	r = add_value(w, at, v, 0, &b);
	if (r < 0)
		return r;
	room = work_alloc(w, at, b.overflow ? SIZE_MAX : b.len);
	if (!room)
		return -EINVAL;
	memcpy(room, buf_str(&b), b.len);
	*ret = (struct value){ .kind = V_TEXT, .text = { room, b.len, true } };
	return 0;
}

int dict_find(struct work *w, size_t at, const struct dict *d, const struct text *key,
	      struct pair **ret)
{
	*ret = NULL;
	for (size_t i = 0; i < d->n && !*ret; i++)
		if (text_eq(&d->v[i].key, key))
			*ret = &d->v[i];
	return work_spend(w, at, key->n + 4 * d->n);
}

int dict_set(struct work *w, size_t at, struct dict *d, const struct text *key,
	     const struct value *v)
{
	struct pair *there;
	int r;

	r = dict_find(w, at, d, key, &there);
	if (r < 0)
		return r;
	if (there) {
		there->value = *v;
		return 0;
	}
	/* arena_push does not count its bytes, so each new pair takes the size of one pair off the limit */
	if (!work_alloc(w, at, sizeof(*d->v)))
		return -EINVAL;
	arena_push(w->a, d->v, d->n, (struct pair){ *key, *v });
	return 0;
}
