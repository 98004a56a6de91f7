/* release.h - the releases of distributions that nodes are made on, and what each is given
 * A row has a part for each era that knows the release. kops 1.8 and kube-up also accept releases without a part:
 * today's images bring their programs themselves, and nodeup installs nothing on them but what the documents name.
 * Invariant: code asks the row, and never compares a name.
 * Owner: static tables. Errors: none. Threads: all functions.
 * Source: kops 1.8.1 nodeup/pkg/distros, nodeup/pkg/model/{logrotate,packages}.go, upup/models/nodeup; kops 1.37
 * util/pkg/distributions, nodeup/pkg/model/{packages,ntp,update_service}.go, nodeup/pkg/model/networking.
 * Tests: test_build_docker.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Names the guards that keep the host from changing networks that pods own. A network asks for guards; a release
 * gets those that it needs. */
enum release_guard {
	GUARD_ROUTES = 1 << 0,    /* systemd-networkd keeps routes and rules that it did not make */
	GUARD_ADDRESSES = 1 << 1, /* systemd-networkd gives no interface another MAC */
	GUARD_OTHERS = 1 << 2,    /* systemd-networkd manages only the first interface */
	GUARD_HOTPLUG = 1 << 3,   /* cloud-init ignores an interface that is attached later */
	GUARD_POLICY = 1 << 4,    /* Amazon's tools do not give the host the addresses of pods */
	GUARD_TABLES = 1 << 5,  /* the names of routing tables are where newer releases keep them */
	GUARD_RELEASE = 1 << 6, /* does the same as GUARD_ROUTES, in a file of another name */
	/* does the same as GUARD_OTHERS, by the names of interfaces */
	GUARD_OTHERS_BY_NAME = 1 << 7,
	/* does the same as GUARD_OTHERS_BY_NAME, in a file of another name */
	GUARD_OTHERS_OF_VPC = 1 << 8,
	/* ifupdown does not take an interface of a pod for one of the host */
	GUARD_IFUPDOWN = 1 << 9,
	GUARD_CLOUD_SETUP = 1 << 10, /* NetworkManager makes no rules for addresses of pods */
};

/* Says why only some versions of kops give a release a guard. */
enum release_when {
	GUARDED_LATE,       /* kops had supported the release for long before it wrote the guard */
	GUARDED_NOT_ALWAYS, /* some versions in between did not write the guard */
	GUARDED_BY_RELEASE, /* the guard is GUARD_RELEASE, whose file kops wrote late */
};

/* Describes a release for kops 1.8 and kube-up. */
struct release_old {
	const char *name; /* "jessie", "centos7": the name in docker's packages */
	/* separated by blanks; NULL: neither kops 1.8 nor kube-up knew the release */
	const char *packages;
	const char *upgrades; /* the package that installs updates automatically; NULL: none */
	const char *ntp;      /* the package that keeps the time; NULL: the image has one */
	const char *ntp_unit;
};

/* Describes a release for today's kops. */
struct release_today {
	/* Versions of kops that know the release: those of each listed minor from the patch on, and all minors after
	 * the last. {0}: all versions. */
	struct version since[2];
	const char *packages; /* separated by blanks; NULL: kops makes no node on the release */
	const char *iptables; /* packages of iptables and its kin; NULL: none */
	/* packages instead of `iptables`, up to kops 1.34; kops 1.35.0 and 1.35.1 take only nftables */
	const char *old_iptables;
	const char *old_tools,
		*older_tools;  /* packages that only kops up to 1.34, or up to 1.33, adds */
	const char *upgrades;  /* the package that installs updates automatically; NULL: none */
	const char *wireguard; /* package of WireGuard; NULL: the kernel is enough */
	const char *chrony_conf, *chrony_unit;
	const char *modules; /* kernel modules, in addition to those of all releases; NULL: none */
	/* package of modules that the kernel's own package leaves out; NULL: none */
	const char *modules_package;
	const char *masked;  /* services that stand in the way of pods' networks; NULL: none */
	const char *reboots; /* the service that reboots the host for an update; NULL: none does */
	const char *updates; /* with `reboots`: the service that gets updates of the whole system */
	const char *log_date; /* the dateformat of its logrotate; NULL: it numbers the logs */
	bool only_nftables;   /* kube-proxy cannot work with iptables */
	bool has_nvidia;      /* NVIDIA has packages for the release that kops installs */
	bool is_told_routes; /* the release gets IPv6 routes from routers only on interfaces that are set to listen */
	bool is_cgroup_v1; /* the release has cgroup v1, unless a setting of its kernel changes that */
	unsigned int guards; /* bits of enum release_guard */
	struct {
		/* those of the guards that only some versions of kops write */
		unsigned int guards;
		enum release_when when;
	} with[2];
};

struct release {
	const char *distribution; /* NULL: every other distribution */
	const char *version;      /* "8" is also 8.11; NULL: all versions */
	const char *codename; /* codename of that version, for hosts that give no number; or NULL */
	struct release_old old;
	struct release_today today;
	const char *btrfs; /* the package of mkfs.btrfs; NULL: the usual one */
};

/* The rows. Of the releases of one distribution that today's kops knows, the newest comes first. The last row is for
 * every other release. */
extern const struct release releases[];

/* Give the n-th release that an era knows, as facts; false: there are no more. After the old releases come whole
 * distributions. */
bool release_nth_old(size_t n, struct facts *ret);
bool release_nth_today(size_t n, struct facts *ret);
/* Lists the hosts that nth_host gives, in its order: "debian 13, 12; amazonlinux 2023". */
const char *release_list(struct arena *a, bool (*nth_host)(size_t n, struct facts *ret));
/* Return the row of a host, and the row of the plan's host. */
const struct release *release_of(const struct facts *f);
const struct release *plan_release(const struct plan *p);
