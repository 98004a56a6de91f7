#include "nodeup/plan/release.h"

#include <string.h>

#define DEBIAN "logrotate ebtables ethtool socat nfs-common python-apt apt-transport-https curl"
#define RHEL "logrotate ebtables ethtool socat"
#define UPGRADES "unattended-upgrades"
/* clang-format off */
#define DEB(older)                                                                                \
	.packages = "libapparmor1 libseccomp2 util-linux", .iptables = "iptables",                \
	.old_tools = "bridge-utils conntrack libltdl7 pigz",                                      \
	.older_tools = older "ebtables ethtool socat", .upgrades = UPGRADES,                      \
	.chrony_conf = "/etc/chrony/chrony.conf", .chrony_unit = "chrony.service"
#define UBUNTU(older)                                                                             \
	DEB(older), .wireguard = "wireguard", .has_nvidia = true
#define RPM(older)                                                                                \
	.packages = "libseccomp util-linux container-selinux",                                    \
	.old_tools = "conntrack-tools libtool-ltdl pigz",                                         \
	.older_tools = "ebtables ethtool " older "socat", .chrony_conf = "/etc/chrony.conf",      \
	.chrony_unit = "chronyd.service"
#define CGROUPFS "cgroupfs-mount "
#define LIBCGROUP "libcgroup "
#define IPTABLES .iptables = "iptables"
#define NFTABLES .iptables = "nftables iptables-nft", .old_iptables = "iptables"
#define ONLY_NFTABLES                                                                             \
	NFTABLES, .only_nftables = true, .modules = "nf_tables nf_conntrack ip_set",              \
	.modules_package = "kernel-modules-extra", .masked = "firewalld.service"
#define KOPS(minor, patch) { 1, minor, patch, NULL }
#define EL10 .since = { KOPS(35, 0) }, RPM(""), ONLY_NFTABLES
#define NETWORKD (GUARD_ROUTES | GUARD_ADDRESSES)
#define LATE (NETWORKD | GUARD_OTHERS | GUARD_HOTPLUG)
#define UBUNTUS (NETWORKD | GUARD_HOTPLUG | GUARD_RELEASE)
#define BY_RELEASE { GUARD_RELEASE, GUARDED_BY_RELEASE }
#define NOT_ALWAYS { GUARD_ADDRESSES, GUARDED_NOT_ALWAYS }

const struct release releases[] = {
	{ "debian", "8",     "jessie",  .old = { "jessie",  DEBIAN, UPGRADES, "ntp", "ntp.service" }, .btrfs = "btrfs-tools" },
	{ "debian", "9",     "stretch", .old = { "stretch", DEBIAN, UPGRADES, "ntp", "ntp.service" } },
	{ "ubuntu", "16.04", "xenial",  .old = { "xenial",  DEBIAN, UPGRADES, "ntp", "ntp.service" }, .btrfs = "btrfs-tools" },
	{ "centos", "7",     NULL,      .old = { "centos7", RHEL,   NULL,     "ntp", "ntpd.service" } },
	{ "rhel",   "7",     NULL,      .old = { "rhel7",   RHEL,   NULL,     "ntp", "ntpd.service" } },

	{ "debian", "13",    "trixie",   .today = { .since = { KOPS(32, 2), KOPS(33, 1) }, DEB(""),
		.guards = LATE, .with = { { LATE, GUARDED_LATE } } } },
	{ "debian", "12",    "bookworm", .today = { DEB(CGROUPFS),
		.guards = LATE | GUARD_TABLES, .with = { { LATE, GUARDED_LATE } } } },
	{ "debian", "11",    "bullseye", .today = { DEB(CGROUPFS), .is_told_routes = true,
		.guards = GUARD_IFUPDOWN | GUARD_TABLES } },
	{ "ubuntu", "26.04", "resolute", .today = { .since = { KOPS(35, 1) }, UBUNTU(""),
		.guards = UBUNTUS, .with = { NOT_ALWAYS, BY_RELEASE } } },
	{ "ubuntu", "25.10", "questing", .today = { .since = { KOPS(35, 0) }, UBUNTU(""),
		.guards = UBUNTUS, .with = { NOT_ALWAYS, BY_RELEASE } } },
	{ "ubuntu", "24.04", "noble",    .today = { UBUNTU(CGROUPFS),
		.guards = UBUNTUS | GUARD_TABLES, .with = { NOT_ALWAYS, BY_RELEASE } } },
	{ "ubuntu", "22.04", "jammy",    .today = { UBUNTU(CGROUPFS),
		.guards = NETWORKD | GUARD_TABLES | GUARD_RELEASE, .with = { BY_RELEASE } } },
	{ "amazonlinux", "2023", NULL,   .today = { RPM(LIBCGROUP), .iptables = "iptables-nft",
		.guards = NETWORKD | GUARD_OTHERS | GUARD_POLICY | GUARD_RELEASE | GUARD_OTHERS_BY_NAME | GUARD_OTHERS_OF_VPC } },
	{ "rhel",   "10",    NULL,       .today = { EL10 } },
	{ "rhel",   "9",     NULL,       .today = { RPM(""), IPTABLES, .guards = GUARD_CLOUD_SETUP } },
	{ "rhel",   "8",     NULL,       .today = { RPM(LIBCGROUP), IPTABLES, .is_cgroup_v1 = true } },
	{ "rocky",  "10",    NULL,       .today = { EL10 } },
	{ "rocky",  "9",     NULL,       .today = { .since = { KOPS(30, 0) }, RPM(""), NFTABLES, .modules = "nf_conntrack" } },
	{ "rocky",  "8",     NULL,       .today = { RPM(LIBCGROUP), IPTABLES, .is_cgroup_v1 = true } },
	{ "centos", "10",    NULL,       .today = { EL10 } },
	{ "centos", "9",     NULL,       .today = { .since = { KOPS(35, 0) }, RPM(""), NFTABLES } },
	{ "fedora", "44",    NULL,       .today = { EL10 } },
	{ "fedora", "43",    NULL,       .today = { EL10 } },
	{ "fedora", "42",    NULL,       .today = { EL10 } },
	{ "fedora", "41",    NULL,       .today = { .since = { KOPS(31, 0) }, RPM(LIBCGROUP), ONLY_NFTABLES } },
	{ "flatcar", NULL,   NULL,       .today = { .packages = "", .log_date = "-%Y%m%d-%s",
		.reboots = "locksmithd.service", .updates = "update-engine.service" } },
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
	if (!r->version)
		return true;
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

/* Gives the row of the n-th release that is known. If there are fewer, reduces *n by their number and returns false. */
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
	/* the last row stands for every other distribution */
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

const char *release_list(struct arena *a, bool (*nth_host)(size_t n, struct facts *ret))
{
	const char *list = NULL, *last = NULL;
	struct facts f;

	for (size_t i = 0; nth_host(i, &f); last = f.distribution, i++)
		if (str_eq(f.distribution, last))
			list = arena_printf(a, "%s, %s", list, f.version);
		else
			list = arena_printf(a, "%s%s%s%s%s", list ? list : "", list ? "; " : "",
					    f.distribution, f.version ? " " : "",
					    f.version ? f.version : "");
	return list;
}

const struct release *release_of(const struct facts *f)
{
	const struct release *r = releases;

	while (!is_row(r, f))
		r++;
	return r;
}

const struct release *plan_release(const struct plan *p)
{
	return release_of(p->req->facts);
}
