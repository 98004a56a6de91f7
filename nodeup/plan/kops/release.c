#include "nodeup/plan/kops/release.h"

#include "nodeup/plan/kops/kops.h"
#include "nodeup/plan/release.h"

#define DEB "iptables libapparmor1 libseccomp2 util-linux", "bridge-utils conntrack libltdl7 pigz"
#define DEB_CGROUPS "cgroupfs-mount ebtables ethtool socat"
#define RPM "libseccomp util-linux container-selinux", "conntrack-tools libtool-ltdl pigz"
#define RPM_CGROUPS "ebtables ethtool libcgroup socat"
#define DEB_CHRONY "/etc/chrony/chrony.conf", "chrony.service"
#define RPM_CHRONY "/etc/chrony.conf", "chronyd.service"
#define NETWORKD (GUARD_ROUTES | GUARD_ADDRESSES)

/* clang-format off */
static const struct kops_release releases[] = {
	{ "debian", "12", "bookworm", DEB, DEB_CGROUPS, "unattended-upgrades", NULL, DEB_CHRONY, "admin root",
	  NETWORKD | GUARD_OTHERS | GUARD_HOTPLUG | GUARD_TABLES,
	  { { NETWORKD | GUARD_OTHERS | GUARD_HOTPLUG, KOPS_DEBIAN_GUARDS } } },
	{ "ubuntu", "24.04", "noble", DEB, DEB_CGROUPS, "unattended-upgrades", "wireguard", DEB_CHRONY, "ubuntu root",
	  NETWORKD | GUARD_HOTPLUG | GUARD_TABLES | GUARD_RELEASE,
	  { { GUARD_ADDRESSES, KOPS_DEFAULT_LINK_UBUNTU }, { GUARD_RELEASE, KOPS_RELEASE_CONF_UBUNTU } } },
	{ "amazonlinux", "2023", NULL, "iptables-nft " RPM, RPM_CGROUPS, NULL, NULL, RPM_CHRONY, "ec2-user",
	  NETWORKD | GUARD_OTHERS | GUARD_POLICY | GUARD_RELEASE | GUARD_OTHERS_BY_NAME | GUARD_OTHERS_OF_VPC, { { 0 } } },
};
/* clang-format on */

/* Documents that are looked at alone may be for a distribution without a version. */
static bool is_release(const struct plan *p, const struct kops_release *r)
{
	const struct facts *f = p->req->facts;
	const bool any = p->req->no_keys && !f->version && !f->codename;

	return any ? str_eq(r->distribution, f->distribution)
		   : release_is(r->distribution, r->version, r->codename, f);
}

static const struct kops_release *find_release(const struct plan *p)
{
	for (size_t i = 0; i < ARRAY_LEN(releases); i++)
		if (is_release(p, &releases[i]))
			return &releases[i];
	return NULL;
}

bool kops_nth_host(size_t n, struct facts *ret)
{
	if (n >= ARRAY_LEN(releases))
		return false;
	ret->distribution = releases[n].distribution;
	ret->version = releases[n].version;
	ret->codename = releases[n].codename;
	return true;
}

const struct kops_release *kops_release(const struct plan *p)
{
	const struct kops_release *r = find_release(p);

	return r ? r : releases;
}

unsigned int kops_guards(const struct plan *p, unsigned int guards)
{
	const struct kops_release *r = kops_release(p);

	guards &= r->guards;
	for (size_t i = 0; i < ARRAY_LEN(r->with); i++)
		if (!kops_has(p, r->with[i].when))
			guards &= ~r->with[i].guards;
	return guards;
}

void build_kops_release(struct plan *p)
{
	const struct facts *f = p->req->facts;
	struct strv known = { 0 };

	if (find_release(p))
		return;
	for (size_t i = 0; i < ARRAY_LEN(releases); i++)
		strv_addf(p->arena, &known, "%s %s", releases[i].distribution, releases[i].version);
	plan_refuse(p, "this is %s %s, and nodes of these documents are made on %s",
		    f->distribution ? f->distribution : "another distribution",
		    f->version ? f->version : "of unknown version",
		    strv_join(p->arena, &known, ", "));
}
