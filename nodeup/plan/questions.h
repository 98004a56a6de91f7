/* questions.h - what builders ask of the model, the facts and the container runtime together
 * Bodies: build_containeros.c.
 * Owner: the arena of the plan. Errors: none. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/context.go, nodeup/pkg/distros.
 * Tests: test_plan.c. */
#pragma once

#include "nodeup/config/distro.h"
#include "nodeup/plan/plan.h"

/* The row of this host's distribution; unknown facts give the common one. */
const struct distro *plan_distro(const struct plan *p);
extern const char plan_containerd_unit[];
/* Returns whether containerd runs the pods, by itself, as the era says. */
bool plan_uses_containerd(const struct plan *p);
/* Returns whether one of these flags, "--name=value", has that name. */
bool plan_has_flag(const struct strv *flags, const char *name);
/* kubelet's flag for the program that mounts on Container-Optimized OS; NULL elsewhere. */
const char *plan_mounter_flag(const struct plan *p);
/* The file in which systemd-resolved names the servers that it asks. */
extern const char plan_resolved_conf[];
/* Returns where servers are named that pods can ask, if the documents do not say: systemd-resolved puts its own loopback address into
 * /etc/resolv.conf. NULL: kubelet takes /etc/resolv.conf, as on older nodes whose admin wrote other servers there. */
const char *plan_resolv_conf(const struct plan *p);
