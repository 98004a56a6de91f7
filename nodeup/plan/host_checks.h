/* host_checks.h - whether this host and this Kubernetes can go together at all
 * Asked before anything is changed: a pair that cannot run ends here, and all reasons are told at once.
 * A fact that probing could not find out is not a reason to refuse.
 * Owner: none. Errors: CONFIG. Threads: one.
 * Source: Kubernetes' changelogs (cgroup v2: 1.19; CRI v1: 1.20, alone in containerd 2.0), docker's
 * (API 1.44 at least since 29, API 1.23 since 1.11), containerd's (configuration 3: 2.0, 4: 2.3; the last Kubernetes
 * of 1.7: 1.35; flags of docker and insecure ports, which went with 1.24).
 * Tests: test_host_checks.c. */
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

/* Go through the table of the node's era and that of all; NULL: this host is not judged. Each reason fails the plan, and the first
 * is e. all_the_same: each is a warning instead. */
int plan_check_host(struct plan *p, const struct host_check *of_era, bool all_the_same,
		    struct err *e) must_check;
