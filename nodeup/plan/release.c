#include "nodeup/plan/release.h"

#include <string.h>

#define DEBIAN "logrotate ebtables ethtool socat nfs-common python-apt apt-transport-https curl"
#define RHEL "logrotate ebtables ethtool socat"
#define UPGRADES "unattended-upgrades"
#define DEB                                                                                     \
	"iptables libapparmor1 libseccomp2 util-linux", "bridge-utils conntrack libltdl7 pigz", \
		"cgroupfs-mount ebtables ethtool socat"
#define RPM                                                                             \
	"libseccomp util-linux container-selinux", "conntrack-tools libtool-ltdl pigz", \
		"ebtables ethtool libcgroup socat"
#define DEB_CHRONY "/etc/chrony/chrony.conf", "chrony.service"
#define RPM_CHRONY "/etc/chrony.conf", "chronyd.service"
#define NETWORKD (GUARD_ROUTES | GUARD_ADDRESSES)

/* clang-format off */
const struct release releases[] = {
	{ "debian", "8",     "jessie",  .old = { "jessie",  DEBIAN, UPGRADES, "ntp", "ntp.service" }, .btrfs = "btrfs-tools" },
	{ "debian", "9",     "stretch", .old = { "stretch", DEBIAN, UPGRADES, "ntp", "ntp.service" } },
	{ "ubuntu", "16.04", "xenial",  .old = { "xenial",  DEBIAN, UPGRADES, "ntp", "ntp.service" }, .btrfs = "btrfs-tools" },
	{ "centos", "7",     NULL,      .old = { "centos7", RHEL,   NULL,     "ntp", "ntpd.service" } },
	{ "rhel",   "7",     NULL,      .old = { "rhel7",   RHEL,   NULL,     "ntp", "ntpd.service" } },
	{ "debian", "12",    "bookworm", .today = { DEB, UPGRADES, NULL, DEB_CHRONY, "admin root",
		NETWORKD | GUARD_OTHERS | GUARD_HOTPLUG | GUARD_TABLES,
		{ { NETWORKD | GUARD_OTHERS | GUARD_HOTPLUG, GUARDED_LATE } } } },
	{ "ubuntu", "24.04", "noble", .today = { DEB, UPGRADES, "wireguard", DEB_CHRONY, "ubuntu root",
		NETWORKD | GUARD_HOTPLUG | GUARD_TABLES | GUARD_RELEASE,
		{ { GUARD_ADDRESSES, GUARDED_NOT_ALWAYS }, { GUARD_RELEASE, GUARDED_BY_RELEASE } } } },
	{ "amazonlinux", "2023", NULL, .today = { "iptables-nft " RPM, NULL, NULL, RPM_CHRONY, "ec2-user",
		NETWORKD | GUARD_OTHERS | GUARD_POLICY | GUARD_RELEASE | GUARD_OTHERS_BY_NAME | GUARD_OTHERS_OF_VPC, { { 0 } } } },
	{ NULL },
};
/* clang-format on */

static bool is_version(const char *version, const char *row)
{
	const size_t n = strlen(row);

	return strncmp(version, row, n) == 0 && (version[n] == '\0' || version[n] == '.');
}

static bool is_row(const struct release *r, const struct facts *f)
{
	if (!r->distribution)
		return true;
	if (!str_eq(r->distribution, f->distribution))
		return false;
	return f->version ? is_version(f->version, r->version)
			  : r->codename && str_eq(r->codename, f->codename);
}

static bool is_old(const struct release *r)
{
	return r->old.packages;
}

static bool is_today(const struct release *r)
{
	return r->today.packages;
}

/* Takes from n those that come before; false: it is none of these. */
static bool nth(size_t *n, bool (*is_known)(const struct release *r), struct facts *ret)
{
	for (const struct release *r = releases; r->distribution; r++) {
		if (!is_known(r) || (*n)-- > 0)
			continue;
		ret->distribution = r->distribution;
		ret->version = r->version;
		ret->codename = r->codename;
		return true;
	}
	return false;
}

bool release_nth_old(size_t n, struct facts *ret)
{
	if (nth(&n, is_old, ret))
		return true;
	/* without the row for every other */
	if (n >= n_distros - 1)
		return false;
	ret->distribution = distros[n].name;
	ret->version = ret->codename = NULL;
	return true;
}

bool release_nth_today(size_t n, struct facts *ret)
{
	return nth(&n, is_today, ret);
}

const struct release *plan_release(const struct plan *p)
{
	const struct release *r = releases;

	while (!is_row(r, p->req->facts))
		r++;
	return r;
}
