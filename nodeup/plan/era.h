/* era.h - what the planner asks of an era: its builders, and the hosts that its nodes are made on
 * One struct an era, in its room; era.c has the table of them.
 * Owner: static tables. Errors: none. Threads: all functions.
 * Tests: test_plan.c. */
#pragma once

#include "nodeup/config/dialect.h"
#include "nodeup/plan/builders.h"
#include "nodeup/plan/host_checks.h"

/* The n-th release or distribution that a node is made on, as facts; false: there are no more. */
typedef bool plan_nth_host_fn(size_t n, struct facts *ret);

struct plan_era {
	const struct dialect *dialect; /* of the documents */
	bool is_adopted;               /* of nodes that another program made, see struct node */
	const struct builder *builders;
	size_t n_builders;
	const struct host_check *checks; /* beside those of all eras; NULL: no host is judged */
	plan_nth_host_fn *nth_host;
	const char *made_on; /* of one family of distributions alone: says so; NULL: of any */
	enum package_family family;
	const char *arch; /* of one architecture alone; NULL: of any */
	/* whether containerd runs the pods, by itself; NULL: it never does */
	bool (*uses_containerd)(const struct plan *p);
	bool installs_docker;   /* where a host has none */
	bool may_lack_packages; /* where a host has no manager of them, a warning is enough */
};

/* The era of a node. Before any document is read it is one whose only builder is that of our own unit. */
const struct plan_era *plan_era(const struct node *n);
/* Returns what is known of the flags of a program, by the documents of any era; NULL: nothing. */
const struct schema *plan_program(const char *name);
/* The n-th host that such nodes are made on. Together they stand for every machine that is supported. */
bool plan_nth_host(const struct node *node, size_t n, struct facts *ret);
/* Some documents are for one family of distributions: they say what stands in files, and name packages. Some have programs for one
 * architecture alone. */
int plan_check_machine(const struct plan *p, struct err *e) must_check;

/* The eras, each in its room. */
#define PLAN_ERAS(X) X(plan_kops18) X(plan_kubeup) X(plan_kops) X(plan_kops_adopted)
#define DECLARE_ERA(era) extern const struct plan_era era;
PLAN_ERAS(DECLARE_ERA)
