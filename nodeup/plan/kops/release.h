/* release.h - the releases of distributions that nodes of today's kops are made on, and what each is given
 * Invariant: one row each; code asks the row, and never compares a name.
 * Owner: static tables. Errors: the plan's. Threads: all functions.
 * Source: kops 1.37 util/pkg/distributions, nodeup/pkg/model/{packages,ntp,update_service}.go, nodeup/pkg/model/networking. */
#pragma once

#include "nodeup/config/kops/changes.h"
#include "nodeup/plan/plan.h"

/* Guards that keep the host from changing a network that is not its own. Networks ask for them, and a release gets
 * those that it needs. */
enum kops_guard {
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
};

struct kops_release {
	const char *distribution, *version, *codename;
	const char *packages;                /* blank-separated */
	const char *old_tools, *older_tools; /* the same of KOPS_OLD_TOOLS and KOPS_OLDER_TOOLS */
	const char *upgrades;                /* installs updates by itself; NULL: none */
	const char *wireguard;               /* NULL: the kernel's is enough */
	const char *chrony_conf, *chrony_unit;
	const char *users;   /* of its images: the first one that is there gets a kubeconfig */
	unsigned int guards; /* of enum kops_guard */
	struct {
		unsigned int guards; /* that it gets with that alone */
		enum kops_change when;
	} with[2];
};

/* The n-th of them, as facts; false: there are no more. */
bool kops_nth_host(size_t n, struct facts *ret);
/* Those of the guards that this host gets of the kops of its documents. */
unsigned int kops_guards(const struct plan *p, unsigned int guards);
/* The row of this host; the first one for a host that has none. */
const struct kops_release *kops_release(const struct plan *p);
