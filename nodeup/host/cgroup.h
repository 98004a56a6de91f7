/* cgroup.h - facts about a container runtime: cgroups, AppArmor, its version
 * Owner: the arena. Errors: none; a fact that cannot be found is left unknown. Threads: one.
 * Source: cgroups(7), dockerd(8), runc's and containerd's tests for AppArmor.
 * Tests: test_probe.c. */
#pragma once

#include "nodeup/config/facts.h"
#include "nodeup/config/node.h"

/* Fills cgroup, lacks_apparmor_parser, lacks_ipvs, cgroup_driver and version for a running host's runtime, whose
 * command is in *command. Files that this run will write count as written. */
void probe_cgroup(struct arena *a, int root_fd, const char *command,
		  const struct node_files *written, struct runtime *r);
