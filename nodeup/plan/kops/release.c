#include "nodeup/plan/kops/release.h"

#include "nodeup/plan/kops/kops.h"

/* The versions of kops that give a release its late guards. */
static const enum kops_change changes[] = {
	[GUARDED_LATE] = KOPS_DEBIAN_GUARDS,
	[GUARDED_NOT_ALWAYS] = KOPS_DEFAULT_LINK_UBUNTU,
	[GUARDED_BY_RELEASE] = KOPS_RELEASE_CONF_UBUNTU,
};

/* Documents that are looked at alone may be for a distribution without a version. */
static bool is_any_release(const struct plan *p)
{
	return p->req->no_keys && !p->req->facts->version && !p->req->facts->codename;
}

/* NULL: nodes are not made on this host. */
static const struct release_today *find_release(const struct plan *p)
{
	const struct release *row = plan_release(p);

	for (const struct release *r = releases; is_any_release(p) && r->distribution; r++)
		if (r->today.packages && str_eq(r->distribution, p->req->facts->distribution))
			return &r->today;
	return row->today.packages ? &row->today : NULL;
}

const struct release_today *kops_release(const struct plan *p)
{
	const struct release_today *found = find_release(p);
	const struct release *r = releases;

	while (!found && !r->today.packages)
		r++;
	return found ? found : &r->today;
}

unsigned int kops_guards(const struct plan *p, unsigned int guards)
{
	const struct release_today *r = kops_release(p);

	guards &= r->guards;
	for (size_t i = 0; i < ARRAY_LEN(r->with); i++)
		if (r->with[i].guards && !kops_has(p, changes[r->with[i].when]))
			guards &= ~r->with[i].guards;
	return guards;
}

void build_kops_release(struct plan *p)
{
	const struct facts *f = p->req->facts;
	struct strv known = { 0 };

	if (find_release(p))
		return;
	for (const struct release *r = releases; r->distribution; r++)
		if (r->today.packages)
			strv_addf(p->arena, &known, "%s %s", r->distribution, r->version);
	plan_refuse(p, "this is %s %s, and nodes of these documents are made on %s",
		    f->distribution ? f->distribution : "another distribution",
		    f->version ? f->version : "of unknown version",
		    strv_join(p->arena, &known, ", "));
}
