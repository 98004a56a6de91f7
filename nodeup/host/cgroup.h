/* cgroup.h - what a container runtime stands on: cgroups, AppArmor, and its own version
 * Owner: the arena. Errors: none; what cannot be found out is left unknown. Threads: one.
 * Source: cgroups(7), dockerd(8), runc's and containerd's tests for AppArmor.
 * Tests: test_probe.c. */
#pragma once

#include "nodeup/config/facts.h"
#include "nodeup/config/node.h"

/* Fill cgroup, lacks_apparmor_parser, lacks_ipvs, cgroup_driver and version of a running host's runtime; its command is in
 * *command. Files that this run writes count as they will be. */
void probe_cgroup(struct arena *a, int root_fd, const char *command,
		  const struct node_files *written, struct runtime *r);
