/* Tests: test_build.c, test_cases.py. */
#include "nodeup/plan/kops18/builders.h"

#include <string.h>
#include "nodeup/plan/docker.h"
#include "nodeup/plan/hooks.h"

static const char docker_unit[] = "docker.service";

static const char *unit_name(struct plan *p, const struct node_hook *h)
{
	if (str_has_suffix(h->name, ".service") || str_has_suffix(h->name, ".timer"))
		return h->name;
	return arena_printf(p->arena, "%s.service", h->name);
}

static void add_words(struct plan *p, struct strv *out, const struct strv *words)
{
	for (size_t i = 0; i < words->n; i++)
		strv_add(p->arena, out, unit_quote(p->arena, words->v[i]));
}

/* docker reads the line to its end as it is, without quotes. */
static const char *value_in_file(struct plan *p, const struct strmap_item *item)
{
	(void)p;
	return item->key[0] == '#' || strpbrk(item->key, " \t") ? NULL : item->value;
}

static const char *run_command(struct plan *p, const struct node_hook *h,
			       const struct plan_hook_env *env)
{
	static const char head[] = "/usr/bin/docker run -v /:/rootfs/ "
				   "-v /var/run/dbus:/var/run/dbus "
				   "-v /run/systemd:/run/systemd --net=host --privileged";
	struct strv out = { 0 };

	strv_add(p->arena, &out, head);
	if (env->file)
		strv_addf(p->arena, &out, "--env-file %s", unit_quote(p->arena, env->file));
	for (size_t i = 0; i < env->words.n; i++) {
		strv_add(p->arena, &out, "-e");
		strv_add(p->arena, &out, unit_quote(p->arena, env->words.v[i]));
	}
	strv_add(p->arena, &out, unit_quote(p->arena, h->image));
	add_words(p, &out, &h->command);
	return strv_join(p->arena, &out, " ");
}

static const char *hook_text(struct plan *p, const struct node_hook *h,
			     const struct plan_hook_env *env)
{
	const char *head = plan_hook_head(p, h);
	struct arena *a = p->arena;

	if (h->manifest)
		return arena_printf(a,
				    "%s"
				    "\n"
				    "[Service]\n"
				    "%s%s",
				    head, h->manifest,
				    str_has_suffix(h->manifest, "\n") ? "" : "\n");
	/* After=: systemd starts the unit by itself at boot, and docker must be up by then */
	return arena_printf(a,
			    "%s"
			    "Requires=%s\n"
			    "After=%s\n"
			    "\n"
			    "[Service]\n"
			    "ExecStartPre=/usr/bin/docker pull %s\n"
			    "ExecStart=%s\n"
			    "Type=oneshot\n"
			    "\n"
			    "[Install]\n"
			    "WantedBy=multi-user.target\n",
			    head, docker_unit, docker_unit, unit_quote(a, h->image),
			    run_command(p, h, env));
}

void build_hooks(struct plan *p)
{
	const struct node_hooks *hooks = &p->req->node->hooks;

	for (size_t i = 0; i < hooks->n; i++) {
		const struct node_hook *h = &hooks->v[i];
		struct plan_hook unit = { .name = unit_name(p, h), .runtime = docker_unit };
		struct plan_hook_env env;

		p->asked = tree_where(p->arena, &h->pos);
		env = plan_hook_environment(p, h, value_in_file);
		unit.input = env.file;
		unit.text = h->disabled ? "" : hook_text(p, h, &env);
		plan_add_hook(p, h, &unit);
	}
}
