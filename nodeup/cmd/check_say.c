#include "nodeup/cmd/check.h"

#include "nodeup/base/print.h"

int check_say(struct checking *c, enum check_result result, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)print_va(c->said, sizeof(c->said), fmt, ap);
	va_end(ap);
	return (int)result;
}
