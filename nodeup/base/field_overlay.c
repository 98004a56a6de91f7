#include "nodeup/base/field.h"

#include <string.h>

/* Merges as kops does: kops writes `over` as JSON, and reads this JSON into obj. Values that Go leaves out of the
 * JSON (empty strings, lists, maps, false, 0) change nothing; lists replace, maps merge. */

/* Returns a new map. Changes neither of the two maps: other structs may share their elements. */
static struct strmap merged(struct arena *a, const struct strmap *base, const struct strmap *over)
{
	struct strmap out = { 0 };

	for (size_t i = 0; i < base->n; i++)
		strmap_set(a, &out, base->v[i].key, base->v[i].value);
	for (size_t i = 0; i < over->n; i++)
		strmap_set(a, &out, over->v[i].key, over->v[i].value);
	return out;
}

static bool says_something(const struct field *f, const void *member)
{
	const char *s;
	struct strv list;

	switch (f->kind) {
	case FIELD_STRING:
		s = *(const char *const *)member;
		return s && (*s || f->pointer);
	case FIELD_INT:
		return *(const int64_t *)member != 0;
	case FIELD_BOOL:
	case FIELD_OPT_BOOL:
	case FIELD_OPT_INT:
	case FIELD_OPT_DUR:
		/* an optional value begins with its flag `set` */
		return *(const bool *)member;
	case FIELD_STRV:
	case FIELD_STRMAP:
	case FIELD_LIST:
		/* all three types begin with a pointer and a count */
		memcpy(&list, member, sizeof(list));
		return list.n > 0;
	case FIELD_TREE:
		return *(const struct tree *const *)member != NULL;
	case FIELD_OBJECT:
		return true;
	}
	return false;
}

static const size_t sizes[] = {
	[FIELD_STRING] = sizeof(const char *),
	[FIELD_BOOL] = sizeof(bool),
	[FIELD_INT] = sizeof(int64_t),
	[FIELD_OPT_BOOL] = sizeof(struct opt_bool),
	[FIELD_OPT_INT] = sizeof(struct opt_int),
	[FIELD_OPT_DUR] = sizeof(struct opt_dur),
	[FIELD_STRV] = sizeof(struct strv),
	[FIELD_LIST] = sizeof(struct strv),
	[FIELD_TREE] = sizeof(const struct tree *),
};

void field_overlay(struct arena *a, const struct schema *s, void *obj, const void *over)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct field *f = &s->fields[i];
		void *to = (char *)obj + f->offset;
		const void *from = (const char *)over + f->offset;

		if (!says_something(f, from))
			continue;
		if (f->kind == FIELD_OBJECT)
			field_overlay(a, f->schema, to, from);
		else if (f->kind == FIELD_STRMAP)
			*(struct strmap *)to = merged(a, to, from);
		else
			memcpy(to, from, sizes[f->kind]);
		if (f->present_offset != FIELD_ALWAYS &&
		    *(const bool *)((const char *)over + f->present_offset))
			*(bool *)((char *)obj + f->present_offset) = true;
	}
}
