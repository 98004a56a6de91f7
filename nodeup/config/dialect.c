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
