#include "nodeup/base/errs.h"

#include <string.h>

static bool is_known(const struct errs *l, const struct err *e)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->v[i].msg, e->msg) == 0)
			return true;
	return false;
}

int errs_keep(struct errs *l, int r, const struct err *e)
{
	if (!l || r >= 0 || e->kind != ERR_CONFIG)
		return r;
	if (is_known(l, e))
		return 0;
	if (l->n == ERRS_MAX)
		l->more++;
	else
		arena_push(l->arena, l->v, l->n, *e);
	return 0;
}

bool errs_any(const struct errs *l)
{
	return l && (l->n || l->lines.n);
}
