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

int dialect_refuse(const struct strv *messages, struct errs *errors, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < messages->n && r == 0; i++)
		r = errs_keep(errors, err_config(e, "%s", messages->v[i]), e);
	for (size_t i = 1; i < messages->n && r < 0; i++)
		err_note(e, "also", "%s", messages->v[i]);
	return r;
}
