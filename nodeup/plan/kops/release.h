/* release.h - the release that a node of today's kops is made on
 * Owner: static tables. Errors: the plan's. Threads: all functions.
 * Tests: test_kops_host.c. */
#pragma once

#include "nodeup/plan/release.h"

/* Returns the row of this host, or the row of the first release if kops makes no node on this host. */
const struct release_today *kops_release(const struct plan *p);
/* Returns which of the guards this host gets from the kops of its documents. */
unsigned int kops_guards(const struct plan *p, unsigned int guards);
