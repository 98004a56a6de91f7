/* era.h - what the planner asks of an era: its builders, and the hosts that its nodes are made on
 * Each era has one struct, in its room; era.c has the table of all eras.
 * Owner: static tables. Errors: none. Threads: all functions.
 * Tests: test_plan.c. */
#pragma once

#include "nodeup/config/dialect.h"
#include "nodeup/plan/builders.h"
#include "nodeup/plan/host_checks.h"

/* Gives the n-th release or distribution that a node of the era can run on, as facts. Returns false when there are
 * no more. */
typedef bool plan_nth_host_fn(size_t n, struct facts *ret);

struct plan_era {
	const struct dialect *dialect; /* the dialect of the era's nodes */
	bool is_adopted;               /* for nodes that another program set up; see struct node */
	const struct builder *builders;
	size_t n_builders;
	/* checks of this era, in addition to those of all eras; NULL: hosts are not checked */
	const struct host_check *checks;
	plan_nth_host_fn *nth_host;
	const char *made_on; /* the only family of distributions for this era; NULL: any */
	enum package_family family;
	const char *arch; /* the only architecture for this era; NULL: any */
	/* says whether containerd runs the pods without docker; NULL: it never does */
	bool (*uses_containerd)(const struct plan *p);
	bool installs_docker; /* nodeup installs docker on a host that has none */
	bool may_lack_packages; /* on a host without a package manager, missing packages are only a warning */
};

/* Returns the era of a node. If no document was read, returns an era whose only builder writes our own unit. */
const struct plan_era *plan_era(const struct node *n);
/* Returns the flags that any era knows of a program; NULL: none. */
const struct schema *plan_program(const char *name);
/* Gives the n-th host that a node of this era can run on. Together these hosts stand for every machine that is
 * supported. */
bool plan_nth_host(const struct node *node, size_t n, struct facts *ret);
/* Fails unless the documents fit this machine. Some documents are for one family of distributions, as they bring
 * texts of files and name packages. Some documents name programs for only one architecture. */
int plan_check_machine(const struct plan *p, struct err *e) must_check;

/* Lists the eras; each has its own room. */
#define PLAN_ERAS(X) X(plan_kops18) X(plan_kubeup) X(plan_kops) X(plan_kops_adopted)
#define DECLARE_ERA(era) extern const struct plan_era era;
PLAN_ERAS(DECLARE_ERA)
