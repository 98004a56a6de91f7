#include "nodeup/config/dialect.h"

void dialect_warn(struct arena *a, const struct dialect_opts *o, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	if (!o->warnings)
		return;
	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	strv_add(a, o->warnings, arena_str(a, text));
}

void dialect_warn_unknown(const struct dialect_opts *o, const struct field_unknowns *found)
{
	struct strv texts = { 0 };

	if (o->unknown)
		field_add_unknowns(o->unknown, found);
	else
		texts = field_unknown_texts(found->arena, found);
	if (o->warnings)
		strv_add_all(found->arena, o->warnings, &texts);
}

int dialect_refuse_unknown(const struct dialect_opts *o, const struct field_unknowns *found,
			   struct err *e)
{
	const struct strv texts = field_unknown_texts(found->arena, found);
	const size_t noted = texts.n > ERR_NOTES + 1 ? ERR_NOTES : texts.n;
	int r;

	if (!texts.n)
		return 0;
	if (o->errors) {
		strv_add_all(o->errors->arena, &o->errors->lines, &texts);
		/* a key that is unlike every known key cannot be the typo of a missing key, so it hides no error */
		for (size_t i = 0; i < found->n; i++)
			o->errors->apart += found->v[i].distance == SIZE_MAX;
		return 0;
	}
	r = err_config(e, "%s", texts.v[0]);
	for (size_t i = 1; i < noted; i++)
		err_note(e, "also", "%s", texts.v[i]);
	if (noted < texts.n)
		err_note(e, "also", "%zu more unknown keys: nodeup validate", texts.n - noted);
	return r;
}
