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

int errs_keep_apart(struct errs *l, int r, const struct err *e)
{
	const size_t before = l ? errs_count(l) : 0;
	const int kept = errs_keep(l, r, e);

	if (l)
		l->apart += errs_count(l) - before;
	return kept;
}

bool errs_any(const struct errs *l)
{
	return l && errs_count(l) > l->apart;
}

size_t errs_count(const struct errs *l)
{
	return l->n + l->more + l->lines.n;
}
