/* host_checks.h - whether this host and this Kubernetes can go together at all
 * The checks run before anything is changed. If the pair cannot run, the run ends here and reports all reasons at
 * once. A fact that probing could not find out is not a reason to refuse.
 * Owner: none. Errors: CONFIG. Threads: one.
 * Source: Kubernetes' changelogs (cgroup v2: 1.19; CRI v1: 1.20, alone in containerd 2.0), docker's (API 1.44 at
 * least since 29, API 1.23 since 1.11), containerd's (configuration 3: 2.0, 4: 2.3; the last Kubernetes of 1.7:
 * 1.35; flags of docker and insecure ports, which went with 1.24).
 * Tests: test_host_checks.c. */
#pragma once

#include "nodeup/plan/plan.h"

struct host_check {
	bool (*is_so)(
		const struct
		plan *p); /* says whether the check fails; NULL: it fails if `got` returns a text */
	const char *what, *want; /* NULL ends a table */
	/* returns the version that does not fit; NULL: the version of the host's runtime */
	const char *(*got)(const struct plan *p);
	bool is_metadata; /* the fault lies in the instance's metadata service */
	bool is_later;    /* the node fails only later: the check is only a warning */
};

/* Runs the checks of the node's era and those of all eras; of_era NULL: this host is not checked. Each failed check
 * fails the plan, and e is the first check's error. With all_the_same a failed check is only a warning. */
int plan_check_host(struct plan *p, const struct host_check *of_era, bool all_the_same,
		    struct err *e) must_check;
