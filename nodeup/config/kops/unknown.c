#include "nodeup/config/kops/unknown.h"

#include <strings.h>

static bool is_text(const struct tree *t, const char *text)
{
	return t->kind == TREE_SCALAR && strcasecmp(t->scalar, text) == 0;
}

static bool is_accepted(const struct kops_unknowns *k, const char *path)
{
	const struct strv *own = k->opts->accept;

	for (size_t i = 0; own && i < own->n; i++)
		if (strcasecmp(own->v[i], path) == 0)
			return true;
	for (size_t i = 0; k->accept && k->accept->kind == TREE_SEQ && i < k->accept->n; i++)
		if (is_text(k->accept->items[i].value, path))
			return true;
	return false;
}

bool kops_accept(struct kops_unknowns *k, const struct field_unknown *u)
{
	const struct dialect_opts *o = k->opts;
	struct arena *a = k->all.arena;

	if (!is_accepted(k, u->path))
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
