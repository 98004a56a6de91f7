#include "nodeup/plan/hooks.h"

#include <string.h>

/* Refuses a hook that is called kubelet. A hook may start before kubelet, but not take its place. */
static void check_name(struct plan *p, const struct node_hook *h, const char *name)
{
	const struct task *t = plan_unit_of(p, name);

	if (!t)
		t = plan_at(p, arena_printf(p->arena, "%s%s", plan_unit_dir, name));
	if (t)
		plan_refuse(p, "%s: hook %s: the unit is %s's", tree_where(p->arena, &h->pos),
			    h->name, t->origin);
}

/* docker and ctr refuse a line longer than 64 KiB */
enum { ENV_LINE_MAX = 60000 };

static bool is_line(const struct strmap_item *item)
{
	return *item->key && !strpbrk(item->key, "\r\n") && !strpbrk(item->value, "\r\n") &&
	       strlen(item->key) + strlen(item->value) < ENV_LINE_MAX;
}

struct plan_hook_env plan_hook_environment(struct plan *p, const struct node_hook *h,
					   plan_hook_value *value)
{
	const char *path = arena_printf(p->arena, "/etc/kubernetes/hooks/%s.env", h->name);
	struct plan_hook_env env = { 0 };
	struct strmap file = { 0 };

	for (size_t i = 0; i < h->environment.n && !h->disabled; i++) {
		const struct strmap_item *item = &h->environment.v[i];
		const char *in_file = is_line(item) ? value(p, item) : NULL;

		if (in_file)
			strmap_set(p->arena, &file, item->key, in_file);
		else
			strv_addf(p->arena, &env.words, "%s=%s", item->key, item->value);
	}
	plan_env_file(p, path, h->name, &file);
	env.file = file.n ? path : NULL;
	return env;
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
	/* Before= only orders units: kubelet starts even if the hook fails */
	t->advisory = true;
}

/* Returns whether the plan masks the unit already: then a hook that is turned off needs nothing more. */
static bool is_masked(const struct plan *p, const char *name)
{
	const struct task *t = plan_at(p, arena_printf(p->arena, "%s%s", plan_unit_dir, name));

	return t && plan_is_mask(t);
}

void plan_add_hook(struct plan *p, const struct node_hook *h, const struct plan_hook *unit)
{
	if (h->disabled && is_masked(p, unit->name))
		return;
	check_name(p, h, unit->name);
	if (h->disabled)
		turn_off(p, unit->name);
	else
		turn_on(p, h, unit);
}
