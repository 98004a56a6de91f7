/* questions.h - what builders ask of the model, the facts and the container runtime together
 * Bodies: questions.c, build_containeros.c.
 * Owner: the arena of the plan.
 * Errors: none. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/context.go, nodeup/pkg/distros.
 * Tests: test_plan.c. */
#pragma once

#include "nodeup/config/distro.h"
#include "nodeup/plan/plan.h"

/* Returns the row of this host's distribution, or the common row if the facts do not say. */
const struct distro *plan_distro(const struct plan *p);
extern const char plan_containerd_unit[];
/* Returns whether containerd runs the pods without docker, as the era says. */
bool plan_uses_containerd(const struct plan *p);
/* Returns whether one of these flags, "--name=value", has that name. */
bool plan_has_flag(const struct strv *flags, const char *name);
/* Returns kubelet's flag for the program that mounts volumes on Container-Optimized OS; NULL elsewhere. */
const char *plan_mounter_flag(const struct plan *p);
/* The file in which systemd-resolved lists the servers that it asks. */
extern const char plan_resolved_conf[];
/* Returns a file with name servers that pods can reach, for documents that do not name one. This file is needed
 * because systemd-resolved puts its own loopback address into /etc/resolv.conf. NULL: kubelet reads
 * /etc/resolv.conf, since no systemd-resolved runs, or an admin wrote other servers there. */
const char *plan_resolv_conf(const struct plan *p);
