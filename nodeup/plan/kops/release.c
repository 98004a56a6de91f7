#include "nodeup/plan/kops/release.h"

#include <string.h>
#include "nodeup/plan/kops/kops.h"

/* Says which versions of kops write the late guards of a release. */
static const enum kops_change changes[] = {
	[GUARDED_LATE] = KOPS_LATE_GUARDS,
	[GUARDED_NOT_ALWAYS] = KOPS_DEFAULT_LINK_AGAIN,
	[GUARDED_BY_RELEASE] = KOPS_RELEASE_CONF_LATE,
};

/* Returns whether any release will do: if only documents are checked, they may name a distribution without a
 * version. */
static bool is_any_release(const struct plan *p)
{
	return p->req->no_keys && !p->req->facts->version && !p->req->facts->codename;
}

/* Returns the newest release of a distribution on which nodes are made; NULL: there is none. */
static const struct release *newest_of(const char *distribution)
{
	const struct release *r = releases;

	while (r->distribution && !(r->today.packages && str_eq(r->distribution, distribution)))
		r++;
	return r->distribution ? r : NULL;
}

/* Returns the row of the release that this host counts as. A release newer than all known ones gets the newest row.
 * NULL: nodes are not made on this release. */
static const struct release *find_release(const struct plan *p)
{
	const struct release *row = plan_release(p);
	const struct release *newest = newest_of(p->req->facts->distribution);
	const char *version = p->req->facts->version;

	if (row->today.packages)
		return row;
	if (!newest ||
	    (!is_any_release(p) && !(version && strverscmp(version, newest->version) > 0)))
		return NULL;
	return newest;
}

const struct release_today *kops_release(const struct plan *p)
{
	const struct release *found = find_release(p), *r = releases;

	while (!found && !r->today.packages)
		r++;
	return found ? &found->today : &r->today;
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

/* Warns of a release on which kops' own program would have stopped, or kubelet may stop. */
static void warn_of_release(struct plan *p, const struct release *r)
{
	const struct facts *f = p->req->facts;
	const struct version *kops = &kops_of(p)->config->kops;

	if (r != plan_release(p) && !is_any_release(p))
		plan_warn(p,
			  "%s %s is newer than what is known: this node is made as one of "
			  "%s %s",
			  f->distribution, f->version, r->distribution, r->version);
	/* if only documents are checked, there is no instance */
	if (p->req->no_keys)
		return;
	if (!kops_is_since(kops, r->today.since, ARRAY_LEN(r->today.since)))
		plan_warn(p,
			  "kops 1.%d.%d made no nodes on %s %s: this one is made as later "
			  "versions make it",
			  kops->minor, kops->patch, r->distribution, r->version);
	if (r->today.is_cgroup_v1 && !p->req->runtime.cgroup && kops_has(p, KOPS_CGROUP_2))
		plan_warn(p,
			  "%s %s has cgroup v1, which kubelet of this Kubernetes refuses, unless "
			  "its kernel is told otherwise",
			  r->distribution, r->version);
}

void build_kops_release(struct plan *p)
{
	const struct facts *f = p->req->facts;
	const struct release *found = find_release(p);

	if (found)
		warn_of_release(p, found);
	else
		plan_refuse(p, "this is %s %s, and nodes of these documents are made on %s",
			    f->distribution ? f->distribution : "another distribution",
			    f->version ? f->version : "of unknown version",
			    release_list(p->arena, release_nth_today));
}
