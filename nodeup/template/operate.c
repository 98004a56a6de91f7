#include "nodeup/template/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static double float_of(const struct value *v)
{
	return v->kind == V_FLOAT ? v->f : (double)value_integer(v);
}

static int too_large(struct work *w, size_t at)
{
	return source_fail(w->source, at, "a number is too large");
}

int operate_join(struct work *w, size_t at, const struct list *l, struct value *ret)
{
	bool wide = false;
	size_t n = 0;
	char *room, *to;

	for (size_t i = 0; i < l->n; i++) {
		/* the sum cannot overflow: every text is in memory, and a list is no longer than the template */
		n += l->v[i].text.n;
		wide |= l->v[i].text.wide;
	}
	room = to = work_alloc(w, at, n);
	if (!room)
		return -EINVAL;
	for (size_t i = 0; i < l->n; i++) {
		memcpy(to, l->v[i].text.p, l->v[i].text.n);
		to += l->v[i].text.n;
	}
	*ret = (struct value){ .kind = V_TEXT, .text = { room, n, wide } };
	return work_spend(w, at, n);
}

static int add_lists(struct work *w, size_t at, const struct list *a, const struct list *b,
		     struct value *ret)
{
	struct list *const sum = list_new(w, at, a->n + b->n);

	if (!sum)
		return -EINVAL;
	for (size_t i = 0; i < a->n; i++)
		sum->v[sum->n++] = a->v[i];
	for (size_t i = 0; i < b->n; i++)
		sum->v[sum->n++] = b->v[i];
	*ret = (struct value){ .kind = V_LIST, .list = sum };
	return work_spend(w, at, sum->n * sizeof(*sum->v));
}

static int unlike(struct work *w, size_t at, const char *what, const struct value *a,
		  const struct value *b)
{
	return source_fail(w->source, at, "%s and %s cannot be %s", value_kind_name(a),
			   value_kind_name(b), what);
}

int operate_add(struct work *w, size_t at, const struct value *a, const struct value *b,
		struct value *ret)
{
	struct value both[] = { *a, *b };
	int64_t sum;

	if (a->kind == V_TEXT && b->kind == V_TEXT)
		return operate_join(w, at, &(struct list){ both, 2 }, ret);
	if (a->kind == V_LIST && b->kind == V_LIST)
		return add_lists(w, at, a->list, b->list, ret);
	if (!value_is_number(a) || !value_is_number(b))
		return unlike(w, at, "added", a, b);
	if (!value_is_integer(a) || !value_is_integer(b))
		return value_float(w->source, at, float_of(a) + float_of(b), ret);
	if (__builtin_add_overflow(value_integer(a), value_integer(b), &sum))
		return too_large(w, at);
	*ret = value_int(sum);
	return 0;
}

/* Repeats a text; a number below one gives an empty text. */
static int repeat_text(struct work *w, size_t at, const struct text *t, int64_t times,
		       struct value *ret)
{
	size_t n = 0;
	char *room;

	if (times > 0 && __builtin_mul_overflow(t->n, (size_t)times, &n))
		return too_large(w, at);
	room = work_alloc(w, at, n);
	if (!room)
		return -EINVAL;
	for (size_t done = 0; done < n; done += t->n)
		memcpy(room + done, t->p, t->n);
	*ret = (struct value){ .kind = V_TEXT, .text = { room, n, t->wide } };
	return work_spend(w, at, n);
}

static int repeat_list(struct work *w, size_t at, const struct list *l, int64_t times,
		       struct value *ret)
{
	struct list *room;
	size_t n = 0;

	if (times > 0 && __builtin_mul_overflow(l->n, (size_t)times, &n))
		return too_large(w, at);
	/* large enough to reach the limit, and small enough that its size in bytes cannot overflow */
	room = list_new(w, at, n < SIZE_MAX / 128 ? n : SIZE_MAX / 128);
	if (!room)
		return -EINVAL;
	while (room->n < n) {
		room->v[room->n] = l->v[room->n % l->n];
		room->n++;
	}
	*ret = (struct value){ .kind = V_LIST, .list = room };
	return work_spend(w, at, n * sizeof(*room->v));
}

int operate_multiply(struct work *w, size_t at, const struct value *a, const struct value *b,
		     struct value *ret)
{
	int64_t product;

	if (value_is_integer(a) && (b->kind == V_TEXT || b->kind == V_LIST))
		return operate_multiply(w, at, b, a, ret);
	if (a->kind == V_TEXT && value_is_integer(b))
		return repeat_text(w, at, &a->text, value_integer(b), ret);
	if (a->kind == V_LIST && value_is_integer(b))
		return repeat_list(w, at, a->list, value_integer(b), ret);
	if (!value_is_number(a) || !value_is_number(b))
		return unlike(w, at, "multiplied", a, b);
	if (!value_is_integer(a) || !value_is_integer(b))
		return value_float(w->source, at, float_of(a) * float_of(b), ret);
	if (__builtin_mul_overflow(value_integer(a), value_integer(b), &product))
		return too_large(w, at);
	*ret = value_int(product);
	return 0;
}

int operate_negate(struct work *w, size_t at, const struct value *v, struct value *ret)
{
	int64_t i;

	if (v->kind == V_FLOAT)
		return value_float(w->source, at, -v->f, ret);
	if (!value_is_integer(v))
		return source_fail(w->source, at, "%s cannot be negated", value_kind_name(v));
	if (__builtin_sub_overflow((int64_t)0, value_integer(v), &i))
		return too_large(w, at);
	*ret = value_int(i);
	return 0;
}

enum { NUMBER_MAX = 64 };

/* Copies the part of a text that Python's int() and float() read: the text without white space at its ends. */
static int number_text(struct work *w, size_t at, const struct value *v, char to[static NUMBER_MAX])
{
	const char *p = v->text.p;
	size_t n = v->text.n;
	int r = value_need_ascii(w, at, v);

	for (; n && (*p == ' ' || (*p >= '\t' && *p <= '\r')); n--)
		p++;
	while (n && (p[n - 1] == ' ' || (p[n - 1] >= '\t' && p[n - 1] <= '\r')))
		n--;
	for (size_t i = 0; i < n && r == 0; i++)
		if (p[i] < ' ')
			r = source_fail(w->source, at, "a control character in a number");
	if (r == 0 && n >= NUMBER_MAX)
		r = source_fail(w->source, at, "a text of %zu bytes where a number is wanted", n);
	if (r < 0)
		return r;
	memcpy(to, p, n);
	to[n] = '\0';
	return 0;
}

static const char digits[] = "0123456789";

static bool is_int(const char *p)
{
	if (*p == '-' || *p == '+')
		for (p++; *p == ' ' || (*p >= '\t' && *p <= '\r');)
			p++;
	return *p && !p[strspn(p, digits)];
}

static bool is_float(const char *p)
{
	size_t whole, fraction = 0;

	p += *p == '-' || *p == '+';
	whole = strspn(p, digits);
	p += whole;
	if (*p == '.') {
		fraction = strspn(++p, digits);
		p += fraction;
	}
	if (whole + fraction == 0)
		return false;
	if (*p != 'e' && *p != 'E')
		return *p == '\0';
	p++;
	p += *p == '-' || *p == '+';
	return *p && !p[strspn(p, digits)];
}

/* Returns whether Python's float() reads the text as infinity or not-a-number. */
static bool is_not_finite(const char *p)
{
	p += *p == '-' || *p == '+';
	return strcasecmp(p, "inf") == 0 || strcasecmp(p, "infinity") == 0 ||
	       strcasecmp(p, "nan") == 0;
}

/* Reads a number as the filters do: zero if the text is no number. */
static int float_of_text(struct work *w, size_t at, const char *text, double *ret)
{
	if (is_not_finite(text))
		return source_fail(w->source, at, "'%s' is not a number in the grammar", text);
	*ret = is_float(text) ? strtod(text, NULL) : 0;
	return 0;
}

int operate_int(struct work *w, size_t at, const struct value *v, struct value *ret)
{
	char text[NUMBER_MAX];
	double f = 0;
	int r;

	if (v->kind != V_TEXT) {
		*ret = value_int(v->kind == V_FLOAT    ? (int64_t)v->f
				 : value_is_integer(v) ? value_integer(v)
						       : 0);
		return 0;
	}
	r = number_text(w, at, v, text);
	if (r < 0)
		return r;
	errno = 0;
	if (is_int(text)) {
		const bool negative = *text == '-';

		/* white space may follow the sign */
		*ret = value_int(strtoll(text + strcspn(text, digits), NULL, 10));
		if (negative)
			ret->i = -ret->i;
		return errno ? too_large(w, at) : 0;
	}
	r = float_of_text(w, at, text, &f);
	if (r < 0)
		return r;
	if (!(fabs(f) < 0x1p62))
		return too_large(w, at);
	*ret = value_int((int64_t)f);
	return 0;
}

int operate_float(struct work *w, size_t at, const struct value *v, struct value *ret)
{
	char text[NUMBER_MAX];
	double f = 0;
	int r;

	if (v->kind != V_TEXT)
		return value_float(w->source, at, value_is_number(v) ? float_of(v) : 0, ret);
	r = number_text(w, at, v, text);
	if (r == 0)
		r = float_of_text(w, at, text, &f);
	return r < 0 ? r : value_float(w->source, at, f, ret);
}

int operate_lower(struct work *w, size_t at, const struct value *v, struct value *ret)
{
	char *room;
	int r = value_need_ascii(w, at, v);

	if (r < 0)
		return r;
	room = work_alloc(w, at, v->text.n);
	if (!room)
		return -EINVAL;
	for (size_t i = 0; i < v->text.n; i++) {
		const char c = v->text.p[i];

		room[i] = (char)(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	*ret = *v;
	ret->text.p = room;
	return 0;
}

/* Returns the next place of a text that is not empty, or NULL. memmem is not used, because memory checkers read the
 * whole text at each of its calls. */
static const char *find_next(const char *p, const char *end, const struct text *what)
{
	while ((p = memchr(p, *what->p, (size_t)(end - p))) && (size_t)(end - p) >= what->n) {
		if (memcmp(p, what->p, what->n) == 0)
			return p;
		p++;
	}
	return NULL;
}

int operate_split(struct work *w, size_t at, const struct text *v, const struct value *by,
		  struct value *ret)
{
	const char *const end = v->p + v->n;
	const bool wide = v->wide || (by->kind == V_TEXT && by->text.wide);
	size_t pieces = 1;
	struct list *l;
	int r;

	if (by->kind != V_TEXT || by->text.n == 0)
		return source_fail(w->source, at, "only a text that is not empty splits another");
	r = work_spend(w, at, 2 * v->n);
	if (r < 0)
		return r;
	for (const char *p = v->p; (p = find_next(p, end, &by->text)); p += by->text.n)
		pieces++;
	l = list_new(w, at, pieces);
	if (!l)
		return -EINVAL;
	for (const char *p = v->p; l->n < pieces; p += by->text.n) {
		const char *next = find_next(p, end, &by->text);

		if (!next)
			next = end;
		l->v[l->n++] =
			(struct value){ .kind = V_TEXT, .text = { p, (size_t)(next - p), wide } };
		p = next;
	}
	*ret = (struct value){ .kind = V_LIST, .list = l };
	return 0;
}
