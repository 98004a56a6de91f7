/* release.h - the release that a node of today's kops is made on
 * Owner: static tables. Errors: the plan's. Threads: all functions.
 * Tests: test_kops_host.c. */
#pragma once

#include "nodeup/plan/release.h"

/* Returns what this host is given; that of the first release for a host that nodes are not made on. */
const struct release_today *kops_release(const struct plan *p);
/* Returns those of the guards that this host gets of the kops of its documents. */
unsigned int kops_guards(const struct plan *p, unsigned int guards);
