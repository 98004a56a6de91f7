#include "nodeup/plan/hooks.h"

#include <string.h>

/* A hook may start before kubelet, but it must not be kubelet. */
static void check_name(struct plan *p, const struct node_hook *h, const char *name)
{
	const struct task *t = plan_unit_of(p, name);

	if (!t)
		t = plan_at(p, arena_printf(p->arena, "%s%s", plan_unit_dir, name));
	if (t)
		plan_refuse(p, "%s: hook %s: the unit is %s's", tree_where(p->arena, &h->pos),
			    h->name, t->origin);
}

char *plan_hook_head(const struct plan *p, const struct node_hook *h)
{
	struct strv lines = { 0 };

	strv_addf(p->arena, &lines, "[Unit]\nDescription=Kops Hook %s\n", h->name);
	for (size_t i = 0; i < h->requires.n; i++)
		strv_addf(p->arena, &lines, "Requires=%s\n", h->requires.v[i]);
	for (size_t i = 0; i < h->before.n; i++)
		strv_addf(p->arena, &lines, "Before=%s\n", h->before.v[i]);
	return strv_join(p->arena, &lines, "");
}

static void turn_off(struct plan *p, const char *name)
{
	struct task *t = plan_unit_off(p, name);

	t->unit.last = true;
	t->advisory = true;
}

static void turn_on(struct plan *p, const struct node_hook *h, const struct plan_hook *unit)
{
	const bool installs = !h->manifest || strstr(h->manifest, "[Install]");
	struct task *t;

	plan_secret_unit(p, unit->name, unit->text);
	t = plan_unit(p, unit->name, installs);
	t->unit.last = true;
	t->unit.before = h->before;
	strv_add_all(p->arena, &t->unit.requires, &h->requires);
	if (h->image)
		strv_add(p->arena, &t->unit.requires, unit->runtime);
	if (unit->input)
		strv_add(p->arena, &t->unit.inputs, unit->input);
	/* Before= is an order and no condition */
	t->advisory = true;
}

void plan_add_hook(struct plan *p, const struct node_hook *h, const struct plan_hook *unit)
{
	check_name(p, h, unit->name);
	if (h->disabled)
		turn_off(p, unit->name);
	else
		turn_on(p, h, unit);
}
