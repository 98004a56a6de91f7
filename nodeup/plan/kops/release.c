#include "nodeup/plan/kops/release.h"

#include "nodeup/plan/builders.h"
#include "nodeup/plan/release.h"

#define DEB "iptables libapparmor1 libseccomp2 util-linux"
#define RPM "libseccomp util-linux container-selinux"
#define DEB_CHRONY "/etc/chrony/chrony.conf", "chrony.service"
#define RPM_CHRONY "/etc/chrony.conf", "chronyd.service"
#define NETWORKD (GUARD_ROUTES | GUARD_ADDRESSES)

/* clang-format off */
static const struct kops_release releases[] = {
	{ "debian", "12", "bookworm", DEB, "unattended-upgrades", NULL, DEB_CHRONY, "admin root",
	  NETWORKD | GUARD_OTHERS | GUARD_HOTPLUG | GUARD_TABLES },
	{ "ubuntu", "24.04", "noble", DEB, "unattended-upgrades", "wireguard", DEB_CHRONY, "ubuntu root",
	  NETWORKD | GUARD_HOTPLUG | GUARD_TABLES },
	{ "amazonlinux", "2023", NULL, "iptables-nft " RPM, NULL, NULL, RPM_CHRONY, "ec2-user",
	  NETWORKD | GUARD_OTHERS | GUARD_POLICY },
};
/* clang-format on */

static const struct kops_release *find_release(const struct plan *p)
{
	for (size_t i = 0; i < ARRAY_LEN(releases); i++) {
		const struct kops_release *r = &releases[i];

		if (release_is(r->distribution, r->version, r->codename, p->req->facts))
			return r;
	}
	return NULL;
}

const struct kops_release *kops_release(const struct plan *p)
{
	const struct kops_release *r = find_release(p);

	return r ? r : releases;
}

/* Where documents are looked at alone, a warning says what they are planned for. */
void build_kops_release(struct plan *p)
{
	const struct facts *f = p->req->facts;
	struct strv known = { 0 };
	const char *here;

	if (find_release(p))
		return;
	here = arena_printf(p->arena, "%s %s",
			    f->distribution ? f->distribution : "another distribution",
			    f->version ? f->version : "of unknown version");
	for (size_t i = 0; i < ARRAY_LEN(releases); i++)
		strv_addf(p->arena, &known, "%s %s", releases[i].distribution, releases[i].version);
	if (p->req->no_keys)
		plan_warn(p, "this is %s: planned as for %s", here, known.v[0]);
	else
		plan_refuse(p, "this is %s, and nodes of these documents are made on %s", here,
			    strv_join(p->arena, &known, ", "));
}
