#include "nodeup/cmd/check.h"

#include <stdio.h>

int check_say(struct checking *c, enum check_result result, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (vsnprintf(c->said, sizeof(c->said), fmt, ap) < 0)
		c->said[0] = '\0';
	va_end(ap);
	return (int)result;
}
