#include "nodeup/plan/era.h"

#include <string.h>

#define ERA_ROW(era) &(era),
static const struct plan_era *const eras[] = { PLAN_ERAS(ERA_ROW) };

static const struct builder own_unit = { .name = "bootstrap", .build = build_bootstrap };
static const struct plan_era no_documents = { .builders = &own_unit, .n_builders = 1 };

const struct plan_era *plan_era(const struct node *n)
{
	for (size_t i = 0; i < ARRAY_LEN(eras); i++)
		if (eras[i]->dialect == n->dialect && eras[i]->is_adopted == n->is_adopted)
			return eras[i];
	return &no_documents;
}

const struct schema *plan_program(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(eras); i++)
		for (const struct dialect_program *p = eras[i]->dialect->programs; p && p->name;
		     p++)
			if (strcmp(p->name, name) == 0)
				return p->schema;
	return NULL;
}

static bool is_made_on(const struct plan_era *era, const struct facts *f)
{
	return !era->made_on || distro_of(f->distribution)->family == era->family;
}

bool plan_nth_host(const struct node *node, size_t n, struct facts *ret)
{
	const struct plan_era *era = plan_era(node);

	for (size_t i = 0; era->nth_host && era->nth_host(i, ret); i++)
		if (is_made_on(era, ret) && n-- == 0)
			return true;
	return false;
}

int plan_check_machine(const struct plan *p, struct err *e)
{
	const struct plan_era *era = plan_era(p->req->node);
	const char *name = p->req->facts->distribution, *arch = p->req->facts->arch;

	if (era->arch && arch && !str_eq(arch, era->arch))
		return err_config(e, "%s made nodes of %s, and this is %s", era->dialect->title,
				  era->arch, arch);
	if (is_made_on(era, p->req->facts))
		return 0;
	return err_config(e, "%s, and this is %s", era->made_on,
			  name ? name : "another distribution");
}
