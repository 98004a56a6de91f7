#include "nodeup/config/kops/unknown.h"

#include "nodeup/config/settings.h"

bool kops_accept(struct kops_unknowns *k, const struct field_unknown *u)
{
	const struct dialect_opts *o = k->opts;
	struct arena *a = k->all.arena;

	if (!settings_has(o->accept, k->accept, u->path))
		return false;
	if (o->accepted && !strv_has(o->accepted, u->path))
		strv_add(a, o->accepted, arena_str(a, u->path));
	dialect_warn(a, o, "%s: '%s' is left alone, as acceptKeys says", tree_where(a, u->pos),
		     u->path);
	return true;
}

int kops_refuse_unknown(const struct kops_unknowns *unknown, struct err *e)
{
	return dialect_refuse_unknown(unknown->opts, &unknown->all, e);
}
