/* host_checks.h - whether this host and this Kubernetes can go together at all
 * Asked before anything is changed: a pair that cannot run ends here, and all reasons are told at once.
 * A fact that probing could not find out is not a reason to refuse.
 * Owner: none. Errors: CONFIG. Threads: one.
 * Source: Kubernetes' changelogs (cgroup v2: 1.19; CRI v1: 1.20, alone in containerd 2.0), docker's
 * (API 1.44 at least since 29, API 1.23 since 1.11), containerd's (configuration 3: 2.0, 4: 2.3; the last Kubernetes
 * of 1.7: 1.35; flags of docker and insecure ports, which went with 1.24).
 * Bodies: kops/host_checks.c. */
#pragma once

#include "nodeup/plan/plan.h"

struct host_check {
	bool (*is_so)(const struct plan *p); /* NULL: when `got` has something to say */
	const char *what, *want;             /* NULL ends a table */
	/* the version that does not fit; NULL: that of the host's runtime. Without is_so it is the question as well. */
	const char *(*got)(const struct plan *p);
	bool is_metadata; /* the instance's metadata service is what does not fit */
	bool is_later;    /* it can run now: a warning is all */
};

/* For nodes whose documents hold the configuration of each program. */
extern const struct host_check host_checks_of_configured[];

/* Go through the tables: each reason fails the plan, and the first is e. all_the_same: each is a warning instead. */
int plan_check_host(struct plan *p, bool all_the_same, struct err *e) must_check;
/* The n-th release or distribution that a node is made on, as facts; false: there are no more. */
typedef bool plan_nth_host_fn(size_t n, struct facts *ret);
/* For nodes whose documents hold the configuration of each program. */
extern plan_nth_host_fn *const plan_nth_host_of_configured;
/* The same of this node. Together they stand for every machine that is supported. */
bool plan_nth_host(const struct node *node, size_t n, struct facts *ret);
/* Documents that say what stands in files, and name packages, are for one family of distributions. */
int plan_check_distribution(const struct plan *p, struct err *e) must_check;
