/* Tests: test_kops_user.c. */
#include "nodeup/plan/hooks.h"
#include "nodeup/plan/kops/kops.h"

#include <string.h>
#include "nodeup/tasks/image_ctr.h"
#include "units/unit.h"

/* Lists the endings of unit names. source: systemd.unit(5), kops 1.37 pkg/systemd/unit.go */
static const char *const endings[] = {
	".automount", ".device", ".mount", ".path",   ".scope", ".service",
	".slice",     ".socket", ".swap",  ".target", ".timer",
};

static const char *unit_name(struct plan *p, const struct node_hook *h)
{
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (str_has_suffix(h->name, endings[i]))
			return h->name;
	return arena_printf(p->arena, "%s.service", h->name);
}

static const char *command_line(struct plan *p, const struct strv *words)
{
	struct strv out = { 0 };

	for (size_t i = 0; i < words->n; i++)
		strv_add(p->arena, &out, unit_quote_as_kops(p->arena, words->v[i]));
	return strv_join(p->arena, &out, " ");
}

/* Returns the first place in a word that systemd would replace; NULL: there is none. Source: systemd.unit(5),
 * systemd.service(5). */
static const char *find_special(const char *word)
{
	static const char specifiers[] = "aAbBCdDEfgGhHiIjJlLmMnNopPqsStTuUvVwWyY";
	const bool is_variable = word[0] == '$' && word[1] && word[1] != '$';

	for (const char *at = word; *at; at++) {
		if ((at == word && is_variable) || (at[0] == '$' && at[1] == '{') ||
		    (at[0] == '%' && at[1] && strchr(specifiers, at[1])))
			return at;
		/* a doubled sign stands for the sign itself */
		at += (*at == '%' || *at == '$') && at[1] == *at;
	}
	return NULL;
}

/* Returns a value as systemd reads it in a unit: there a doubled sign stands for a single sign. */
static const char *without_doubles(struct plan *p, const char *value)
{
	char *out = arena_str(p->arena, value), *to = out;

	for (const char *at = value; *at; at++) {
		*to++ = *at;
		at += (*at == '%' || *at == '$') && at[1] == *at;
	}
	*to = '\0';
	return out;
}

/* Returns the value for ctr's file of variables, which takes a line as it is. NULL: systemd would change the value,
 * so it stays on the command line. */
static const char *value_in_file(struct plan *p, const struct strmap_item *item)
{
	return strchr(item->key, '=') ||
			       find_special(arena_printf(p->arena, "%s=%s", item->key, item->value))
		       ? NULL
		       : without_doubles(p, item->value);
}

/* source: kops 1.37 nodeup/pkg/model/hooks.go buildContainerdService */
static const char *run_command(struct plan *p, const struct node_hook *h, const char *image,
			       const struct plan_hook_env *env)
{
	static const char *const head[] = {
		"/usr/bin/ctr",
		"--namespace",
		"k8s.io",
		"run",
		"--rm",
		"--mount",
		"type=bind,src=/,dst=/rootfs,options=rbind:rslave",
		"--mount",
		"type=bind,src=/var/run/dbus,dst=/var/run/dbus,options=rbind:rprivate",
		"--mount",
		"type=bind,src=/run/systemd,dst=/run/systemd,options=rbind:rprivate",
		"--net-host",
		"--privileged",
	};
	struct strv words = { 0 };

	strv_add_array(p->arena, &words, head);
	if (env->file) {
		strv_add(p->arena, &words, "--env-file");
		strv_add(p->arena, &words, env->file);
	}
	for (size_t i = 0; i < env->words.n; i++) {
		strv_add(p->arena, &words, "--env");
		strv_add(p->arena, &words, env->words.v[i]);
	}
	strv_add(p->arena, &words, image);
	strv_add(p->arena, &words, h->name);
	strv_add_all(p->arena, &words, &h->command);
	return command_line(p, &words);
}

/* Warns of a sign that systemd replaces. Shows the first `shown` bytes of a word. Of a value, which may be a
 * password, it shows only the sign. */
static void warn_of_special(struct plan *p, const struct node_hook *h, const char *place,
			    const char *word, int shown)
{
	const char *at = find_special(word);

	if (at)
		plan_warn(p,
			  "%s: hook %s: execContainer.%s: systemd puts something else for '%.*s', "
			  "unless it stands there as '%c%.*s'",
			  tree_where(p->arena, &h->pos), h->name, place, shown, at, *at, shown, at);
}

/* Warns, but changes nothing: kops writes the words as they are, and its users may know that and double the signs. */
static void check_words(struct plan *p, const struct node_hook *h)
{
	warn_of_special(p, h, "image", h->image, 2);
	for (size_t i = 0; i < h->environment.n; i++) {
		const struct strmap_item *item = &h->environment.v[i];

		warn_of_special(p, h, arena_printf(p->arena, "environment.%s", item->key),
				arena_printf(p->arena, "%s=%s", item->key, item->value), 1);
	}
	for (size_t i = 0; i < h->command.n; i++)
		warn_of_special(p, h, arena_printf(p->arena, "command[%zu]", i), h->command.v[i],
				2);
}

static const char *service_text(struct plan *p, const struct node_hook *h,
				const struct plan_hook_env *env)
{
	const char *image;

	if (h->manifest)
		return arena_printf(p->arena, "\n[Service]\n%s", h->manifest);
	image = image_ctr_name(p->arena, h->image);
	return arena_printf(p->arena,
			    "Requires=%s\n"
			    "\n"
			    "[Service]\n"
			    "ExecStartPre=/usr/bin/ctr --namespace k8s.io image pull %s\n"
			    "ExecStart=%s\n"
			    "Type=oneshot\n"
			    "\n"
			    "[Install]\n"
			    "WantedBy=multi-user.target\n",
			    plan_containerd_unit, unit_quote_as_kops(p->arena, image),
			    run_command(p, h, image, env));
}

static const char *unit_text(struct plan *p, const struct node_hook *h,
			     const struct plan_hook_env *env)
{
	if (h->is_whole)
		return h->manifest;
	return arena_printf(p->arena, "%s%s", plan_hook_head(p, h), service_text(p, h, env));
}

void build_kops_hooks(struct plan *p)
{
	const struct node_hooks *hooks = &p->req->node->hooks;

	for (size_t i = 0; i < hooks->n; i++) {
		const struct node_hook *h = &hooks->v[i];
		struct plan_hook unit = { .name = unit_name(p, h),
					  .runtime = plan_containerd_unit };
		struct plan_hook_env env;

		p->asked = tree_where(p->arena, &h->pos);
		env = plan_hook_environment(p, h, value_in_file);
		unit.input = env.file;
		unit.text = h->disabled ? "" : unit_text(p, h, &env);
		if (!h->disabled && !h->manifest)
			check_words(p, h);
		plan_add_hook(p, h, &unit);
	}
}
