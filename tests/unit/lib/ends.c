#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/lib/ends.h"

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/field_value.h"

struct search {
	const struct ends_sample *all;
	size_t n;
	const char *const *others;
};

/* A range of a row, as its demand and its reader have it together. */
struct range {
	const struct field *field;
	const struct field_accepts *demand; /* NULL: the reader's alone */
	const char *key;
	int64_t least, most;
};

static bool is_number(const struct field *f)
{
	return f->kind == FIELD_INT || f->kind == FIELD_OPT_INT;
}

static struct range range_of(const struct field *f, const struct field_accepts *d, const char *key)
{
	struct range r = { f, d, key, INT64_MIN, INT64_MAX };

	if (is_number(f) && (f->min || f->max)) {
		r.least = f->min;
		r.most = f->max;
	} else if (is_number(f) && !f->wide) {
		r.least = INT32_MIN;
		r.most = INT32_MAX;
	}
	if (d && d->min > r.least)
		r.least = d->min;
	if (d && d->max < r.most)
		r.most = d->max;
	return r;
}

static bool number_of(const struct field *f, const char *text, int64_t *ret)
{
	autoarena struct arena *a = arena_new_empty();
	const char *bare =
		arena_strn(a, text + (*text == '\''), strcspn(text + (*text == '\''), "'"));
	struct err ignored;
	char *end;

	if (f->kind == FIELD_OPT_DUR)
		return dur_parse(bare, ret, &ignored) == 0;
	*ret = strtoll(bare, &end, 10);
	return end != bare && !*end;
}

/* Whether a number from least to most is a sample with this result. */
static bool has(const struct search *s, const struct range *r, int64_t least, int64_t most,
		bool taken)
{
	int64_t number;

	for (size_t i = 0; i < s->n; i++) {
		const struct ends_sample *v = &s->all[i];

		if (str_eq(v->key, r->key) && v->taken == taken &&
		    (!r->demand || accepts_holds(r->demand->since, r->demand->until, v->minor)) &&
		    number_of(r->field, v->value, &number) && number >= least && number <= most)
			return true;
	}
	return false;
}

/* Zero may be taken below a least of 1, so that the next number is the one beyond. */
static const char *lacks(const struct search *s, const struct range *r)
{
	if (r->least != INT64_MIN && !has(s, r, r->least, r->least, true))
		return "the smallest";
	if (r->least != INT64_MIN && !has(s, r, r->least - 2, r->least - 1, false))
		return "one below";
	if (r->most != INT64_MAX && !has(s, r, r->most, r->most, true))
		return "the largest";
	if (r->most != INT64_MAX && !has(s, r, r->most + 1, r->most + 1, false))
		return "one above";
	return NULL;
}

static void check(const struct search *s, const struct range *r)
{
	const char *what = lacks(s, r);

	if (what && !str_is_one_of(r->key, s->others))
		fail_msg("%s%s%s: %s", r->key, r->demand ? ", " : "",
			 r->demand ? r->demand->wanted : "", what);
}

static void walk(struct arena *a, const struct search *s, const struct schema *below,
		 const char *path)
{
	for (size_t i = 0; i < below->n && !str_is_one_of(below->name, s->others); i++) {
		const struct field *f = &below->fields[i];
		const char *key = field_path(a, path, f->key);
		struct range r = range_of(f, NULL, key);

		if (f->schema)
			walk(a, s, f->schema,
			     f->kind == FIELD_LIST ? arena_printf(a, "%s[]", key) : key);
		if (f->min || f->max)
			check(s, &r);
		for (const struct field_accepts *d = f->accepts; d; d = d->next) {
			r = range_of(f, d, key);
			if (d->min || d->max)
				check(s, &r);
		}
	}
}

void ends_are_tried(const struct schema *s, const struct ends_sample *all, size_t n,
		    const char *const *others)
{
	autoarena struct arena *a = arena_new_empty();
	const struct search search = { all, n, others };

	walk(a, &search, s, "");
}
