#include "nodeup/base/field.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/quantity.h"

/* The rules of kops' flag builder:
 * - a string is left out if it is empty or equals flag_empty; with include_empty a string that is present always
 * shows; an optional value that is not set is left out;
 * - Go's plain bool and int always show unless they equal flag_empty, and so do optional values that are set;
 * - a list is joined with commas, or gives one flag for each element (repeat); a map becomes sorted k=v pairs, which
 * are joined or repeated too; an empty list or map is left out; a quantity is a plain decimal number;
 * - nested structs are walked; rows without a flag are skipped;
 * - in the end all strings are sorted by bytes. */

struct writer {
	struct arena *arena;
	struct strv *out;
};

static void add(struct writer *w, const struct field *f, const char *value)
{
	strv_addf(w->arena, w->out, "--%s=%s", f->flag, value);
}

static void add_scalar(struct writer *w, const struct field *f, const char *value)
{
	if (!f->flag_empty || strcmp(value, f->flag_empty) != 0)
		add(w, f, value);
}

static void add_bool(struct writer *w, const struct field *f, bool v)
{
	add_scalar(w, f, v ? "true" : "false");
}

static void add_int(struct writer *w, const struct field *f, int64_t v)
{
	add_scalar(w, f, arena_printf(w->arena, "%lld", (long long)v));
}

static void add_string(struct writer *w, const struct field *f, const char *v)
{
	if (!v)
		return;
	if (f->format == &format_quantity && *v)
		v = quantity_decimal(w->arena, v);
	if (f->include_empty)
		add(w, f, v);
	else if (*v)
		add_scalar(w, f, v);
}

static void add_list(struct writer *w, const struct field *f, const struct strv *v)
{
	if (v->n && !f->repeat)
		add(w, f, strv_join(w->arena, v, ","));
	for (size_t i = 0; f->repeat && i < v->n; i++)
		add(w, f, v->v[i]);
}

static void add_map(struct writer *w, const struct field *f, const struct strmap *m)
{
	struct strv pairs = { 0 };

	for (size_t i = 0; i < m->n; i++)
		strv_addf(w->arena, &pairs, "%s=%s", m->v[i].key, m->v[i].value);
	strv_sort(&pairs);
	add_list(w, f, &pairs);
}

static void add_optional(struct writer *w, const struct field *f, const void *member)
{
	const struct opt_bool *b = member;
	const struct opt_int *n = member;
	const struct opt_dur *d = member;

	if (f->kind == FIELD_OPT_BOOL && b->set)
		add_bool(w, f, b->v);
	else if (f->kind == FIELD_OPT_INT && n->set)
		add_int(w, f, n->v);
	else if (f->kind == FIELD_OPT_DUR && d->set)
		add_scalar(w, f, dur_render(w->arena, d->ns));
}

static void add_member(struct writer *w, const struct field *f, const void *member)
{
	switch (f->kind) {
	case FIELD_STRING:
		add_string(w, f, *(const char *const *)member);
		break;
	case FIELD_BOOL:
		add_bool(w, f, *(const bool *)member);
		break;
	case FIELD_INT:
		add_int(w, f, *(const int64_t *)member);
		break;
	case FIELD_OPT_BOOL:
	case FIELD_OPT_INT:
	case FIELD_OPT_DUR:
		add_optional(w, f, member);
		break;
	case FIELD_STRV:
		add_list(w, f, member);
		break;
	case FIELD_STRMAP:
		add_map(w, f, member);
		break;
	case FIELD_OBJECT:
	case FIELD_LIST:
	case FIELD_TREE:
		break;
	}
}

static bool is_present(const struct field *f, const void *obj)
{
	return f->present_offset == FIELD_ALWAYS ||
	       *(const bool *)((const char *)obj + f->present_offset);
}

static void walk(struct writer *w, const struct schema *s, const void *obj)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];
		const void *member = (const char *)obj + f->offset;

		if (f->flag)
			add_member(w, f, member);
		else if (f->kind == FIELD_OBJECT && is_present(f, obj))
			walk(w, f->schema, member);
	}
}

void field_flags(struct arena *a, const struct schema *s, const void *obj, struct strv *out)
{
	struct writer w = { a, out };

	walk(&w, s, obj);
	strv_sort(out);
}

/* Visits the value of a row: a path or a list of paths. */
static void visit_files(const struct field *f, const void *member, field_file_fn *fn, void *arg)
{
	const char *const *one = member;
	const struct strv *list = member;
	const size_t n = f->kind == FIELD_STRV ? list->n : 1;

	for (size_t i = 0; i < n; i++) {
		const char *path = f->kind == FIELD_STRV ? list->v[i] : *one;

		if (!str_is_empty(path))
			fn(arg, f, path);
	}
}

void field_files(const struct schema *s, const void *obj, field_file_fn *fn, void *arg)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];
		const void *member = (const char *)obj + f->offset;

		if (f->file)
			visit_files(f, member, fn, arg);
		else if (f->kind == FIELD_OBJECT && is_present(f, obj))
			field_files(f->schema, member, fn, arg);
	}
}
