#include "nodeup/plan/builders.h"

#include <string.h>
#include "nodeup/plan/docker.h"
#include "nodeup/plan/hooks.h"

static const char docker_unit[] = "docker.service";

/* docker reads a file of variables line by line, and gives up at 64 KiB */
enum { ENV_LINE_MAX = 60000 };

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

static const char *env_path(struct plan *p, const struct node_hook *h)
{
	return arena_printf(p->arena, "/etc/kubernetes/hooks/%s.env", h->name);
}

/* Whether docker takes it from a file as it is: up to the end of the line, without quoting. */
static bool fits_a_line(const struct strmap_item *item)
{
	const size_t key = strlen(item->key), value = strlen(item->value);

	return key && item->key[0] != '#' && strcspn(item->key, " \t\r\n") == key &&
	       strcspn(item->value, "\r\n") == value && key + value < ENV_LINE_MAX;
}

/* A variable may be a password, and every user can read units and command lines. Whether there is a file. */
static bool add_env_file(struct plan *p, const struct node_hook *h)
{
	struct strmap file = { 0 };

	for (size_t i = 0; i < h->environment.n && !h->disabled; i++)
		if (fits_a_line(&h->environment.v[i]))
			strmap_set(p->arena, &file, h->environment.v[i].key,
				   h->environment.v[i].value);
	plan_env_file(p, env_path(p, h), h->name, &file);
	return file.n > 0;
}

static const char *run_command(struct plan *p, const struct node_hook *h, bool has_file)
{
	static const char head[] = "/usr/bin/docker run -v /:/rootfs/ "
				   "-v /var/run/dbus:/var/run/dbus "
				   "-v /run/systemd:/run/systemd --net=host --privileged";
	struct strv out = { 0 };

	strv_add(p->arena, &out, head);
	if (has_file)
		strv_addf(p->arena, &out, "--env-file %s", unit_quote(p->arena, env_path(p, h)));
	for (size_t i = 0; i < h->environment.n; i++) {
		const struct strmap_item *item = &h->environment.v[i];

		if (fits_a_line(item))
			continue;
		strv_add(p->arena, &out, "-e");
		strv_add(p->arena, &out,
			 unit_quote(p->arena,
				    arena_printf(p->arena, "%s=%s", item->key, item->value)));
	}
	strv_add(p->arena, &out, unit_quote(p->arena, h->image));
	add_words(p, &out, &h->command);
	return strv_join(p->arena, &out, " ");
}

static const char *hook_text(struct plan *p, const struct node_hook *h, bool has_file)
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
	/* After: at boot systemd starts it by itself, and docker has to be up by then */
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
			    run_command(p, h, has_file));
}

void build_hooks(struct plan *p)
{
	const struct node_hooks *hooks = &p->req->node->hooks;

	for (size_t i = 0; i < hooks->n; i++) {
		const struct node_hook *h = &hooks->v[i];
		struct plan_hook unit = { .name = unit_name(p, h), .runtime = docker_unit };
		bool has_file;

		p->asked = tree_where(p->arena, &h->pos);
		has_file = add_env_file(p, h);
		unit.input = has_file ? env_path(p, h) : NULL;
		unit.text = h->disabled ? "" : hook_text(p, h, has_file);
		plan_add_hook(p, h, &unit);
	}
}
