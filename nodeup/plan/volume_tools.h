/* volume_tools.h - the packages that have the programs which make a volume's file system
 * Asked of the distribution only when the program is not there and the volume is not made yet.
 * Owner: the arena of the plan. Errors: none. Threads: one. Source: Debian, Ubuntu, RHEL: the packages
 * that have mkfs.xfs, mkfs.btrfs and mdadm.
 * Tests: test_build_volumes.c. */
#pragma once

#include "nodeup/plan/plan.h"

/* Package tasks for what a volume needs, where this distribution can install it: the programs. */
struct strv volume_tools(struct plan *p, const struct node_volume *v);

/* Dependency rules: see deps.c. */
bool volume_tools_is_for(const struct task *volume, const struct task *package);
bool volume_tools_is_before(const struct task *package, const struct task *file);
