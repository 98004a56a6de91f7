/* release.h - the releases of distributions that nodes are made on, and what each is given
 * A row has a part for each era that knows the release. kops 1.8 and kube-up also take releases that have none: images of
 * today bring their programs themselves, and nothing is installed on them but what the documents name.
 * Invariant: code asks the row, and never compares a name.
 * Owner: static tables. Errors: none. Threads: all functions.
 * Source: kops 1.8.1 nodeup/pkg/distros, nodeup/pkg/model/{logrotate,packages}.go, upup/models/nodeup; kops 1.37
 * util/pkg/distributions, nodeup/pkg/model/{packages,ntp,update_service}.go, nodeup/pkg/model/networking.
 * Tests: test_build_docker.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Guards that keep the host from changing a network that is not its own. Networks ask for them, and a release gets
 * those that it needs. */
enum release_guard {
	GUARD_ROUTES =
		1 << 0, /* systemd-networkd leaves routes and rules alone that it did not make */
	GUARD_ADDRESSES = 1 << 1, /* it gives no interface another MAC */
	GUARD_OTHERS = 1 << 2,    /* it leaves all interfaces alone but the first */
	GUARD_HOTPLUG = 1 << 3,   /* cloud-init does nothing when an interface is attached */
	GUARD_POLICY = 1 << 4,    /* Amazon's tools add no addresses of pods to the host */
	GUARD_TABLES = 1 << 5,    /* names of routing tables are where newer releases have them */
	GUARD_RELEASE = 1 << 6,   /* GUARD_ROUTES by a file of another name */
	GUARD_OTHERS_BY_NAME = 1 << 7, /* GUARD_OTHERS by what interfaces are called */
	GUARD_OTHERS_OF_VPC = 1 << 8,  /* the same in a file of another name */
	GUARD_IFUPDOWN = 1 << 9,     /* ifupdown takes no interface of a pod for one of the host */
	GUARD_CLOUD_SETUP = 1 << 10, /* NetworkManager makes no rules for addresses of pods */
};

/* Why only some versions of today's kops give a release a guard. */
enum release_when {
	GUARDED_LATE,       /* kops knew the release for long without it */
	GUARDED_NOT_ALWAYS, /* some versions between took it for needless */
	GUARDED_BY_RELEASE, /* an older file of the same guard came late */
};

/* The release of a distribution for kops 1.8 and kube-up. */
struct release_old {
	const char *name;     /* "jessie", "centos7": as docker's packages have it */
	const char *packages; /* blank-separated; NULL: the release was not known */
	const char *upgrades; /* package that installs updates by itself; NULL: none */
	const char *ntp;      /* package that keeps the time; NULL: the image does */
	const char *ntp_unit;
};

/* The release of a distribution for today's kops. */
struct release_today {
	/* The kops that know it: of each minor from a patch on, and all minors behind the last; {0}: all do. */
	struct version since[2];
	const char *packages;     /* blank-separated; NULL: no node is made on it */
	const char *iptables;     /* packages of it and its kin; NULL: none */
	const char *old_iptables; /* in their place, to kops 1.35.1; NULL: the same */
	const char *old_tools,
		*older_tools;  /* packages that kops to 1.34, and to 1.33, gives as well */
	const char *upgrades;  /* as above */
	const char *wireguard; /* NULL: the kernel's is enough */
	const char *chrony_conf, *chrony_unit;
	const char *modules; /* of the kernel, beside those of all; NULL: none */
	const char
		*modules_package; /* has what its kernel's own package leaves out; NULL: nothing */
	const char *masked;       /* services that stand in the way of pods' networks; NULL: none */
	const char *reboots;      /* the service that boots it for an update; NULL: none does */
	const char *updates;      /* that gets updates of the whole system, where one boots it */
	const char *log_date;     /* as which its logrotate dates a log; NULL: it counts them */
	bool only_nftables;       /* kube-proxy cannot work with iptables */
	bool has_nvidia;          /* NVIDIA has packages for it that kops installs */
	bool is_told_routes; /* of version 6, by routers, on interfaces that are told to listen alone */
	bool is_cgroup_v1;   /* unless its kernel is told otherwise */
	unsigned int guards; /* of enum release_guard */
	struct {
		unsigned int guards; /* those of them that not every kops gives */
		enum release_when when;
	} with[2];
};

struct release {
	const char *distribution; /* NULL: every other */
	const char *version;      /* "8" is also 8.11; NULL: all of them */
	const char *codename;     /* of that version, where a host tells no number; or NULL */
	struct release_old old;
	struct release_today today;
	const char *btrfs; /* package of mkfs.btrfs; NULL: as everywhere else */
};

/* The newest release of a distribution that today's kops knows is the first of them. The row of every other release is the
 * last. */
extern const struct release releases[];

/* The n-th release that an era knows, as facts; false: there are no more. Behind those of old are the distributions. */
bool release_nth_old(size_t n, struct facts *ret);
bool release_nth_today(size_t n, struct facts *ret);
/* Those that such a function has, in their order: "debian 13, 12; amazonlinux 2023". */
const char *release_list(struct arena *a, bool (*nth_host)(size_t n, struct facts *ret));
/* The row of a host, and of the plan's. */
const struct release *release_of(const struct facts *f);
const struct release *plan_release(const struct plan *p);
