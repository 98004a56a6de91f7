/* Tests: test_build_extras.c. */
#include "nodeup/plan/builders.h"

#include <string.h>
#include "nodeup/plan/environment.h"
#include "nodeup/plan/era.h"
#include "nodeup/plan/release.h"

/* Lists packages that pods can run without. Only the units of the named builder wait for them. */
static const struct {
	const char *name, *builder;
} comforts[] = {
	{ "logrotate", "logrotate" },
	{ "chrony", "ntp" },
	{ "ntp", "ntp" },
	{ "unattended-upgrades", "upgrades" },
};

static void add_words(struct plan *p, struct strv *names, const char *words)
{
	const struct strv v = strv_split(p->arena, words ? words : "", ' ');

	for (size_t i = 0; i < v.n; i++)
		if (*v.v[i] && !strv_has(names, v.v[i]))
			strv_add(p->arena, names, v.v[i]);
}

static const char *comfort_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(comforts); i++)
		if (strcmp(comforts[i].name, name) == 0)
			return comforts[i].builder;
	return NULL;
}

/* Adds one call of the package manager. Optional packages have a call of their own. */
static void add_call(struct plan *p, const struct strv *names, bool of_comfort)
{
	struct task_package call = { .family = plan_distro(p)->family, .env = plan_proxy_words(p) };

	for (size_t i = 0; i < names->n; i++) {
		const char *builder = comfort_of(names->v[i]);

		if (!builder == of_comfort)
			continue;
		strv_add(p->arena, &call.names, names->v[i]);
		if (builder)
			strv_add_once(p->arena, &call.builders, builder);
	}
	if (call.names.n)
		plan_new_task(p, TASK_PACKAGE, strv_join(p->arena, &call.names, " "))->package =
			call;
}

static void lack(struct plan *p, const char *names)
{
	static const char form[] = "packages: %s: this distribution installs none";

	if (!p->era->may_lack_packages)
		plan_refuse(p, form, names);
	else if (!p->req->no_keys) /* if only documents are checked, they may be for any host */
		plan_warn(p, form, names);
}

void build_packages(struct plan *p)
{
	struct strv names = { 0 };

	add_words(p, &names, strv_join(p->arena, &p->packages, " "));
	add_words(p, &names, strv_join(p->arena, &p->req->node->packages, " "));
	if (names.n == 0)
		return;
	if (plan_distro(p)->family == PACKAGE_NONE) {
		lack(p, strv_join(p->arena, &names, " "));
		return;
	}
	add_call(p, &names, false);
	add_call(p, &names, true);
}

const char *plan_needs_upgrades(struct plan *p)
{
	return p->req->node->auto_upgrades ? plan_release(p)->old.upgrades : NULL;
}

const char *plan_needs_ntp(struct plan *p)
{
	return p->req->node->keeps_time ? plan_release(p)->old.ntp : NULL;
}

/* Turns on the vendor's unit. An image without the package does not have the unit. */
void build_ntp(struct plan *p)
{
	const char *unit = plan_release(p)->old.ntp_unit;

	if (p->req->node->keeps_time && unit)
		plan_unit(p, unit, !p->req->image_mode);
}
