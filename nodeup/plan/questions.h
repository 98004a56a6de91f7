/* questions.h - what builders ask of the model, the facts and the container runtime together
 * Bodies: build_containeros.c, flag_versions.c.
 * Owner: the arena of the plan. Errors: none. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/context.go, nodeup/pkg/distros. */
#pragma once

#include "nodeup/config/distro.h"
#include "nodeup/plan/plan.h"

/* The row of this host's distribution; unknown facts give the common one. */
const struct distro *plan_distro(const struct plan *p);
/* A file below the layout's srv. */
const char *plan_in_srv(const struct plan *p, const char *name);
/* Encryption at rest: the store's text where the cluster asks for it and Kubernetes can, or NULL. */
const char *plan_encryption_config(const struct plan *p);
extern const char plan_containerd_unit[];
/* Returns whether containerd runs the pods without docker. That takes Kubernetes 1.10 or later, and a CNI plugin
 * for the network. */
bool plan_uses_containerd(const struct plan *p);
/* Returns whether one of these flags, "--name=value", has that name. */
bool plan_has_flag(const struct strv *flags, const char *name);
/* Warn of flags of the schema that the component of this Kubernetes refuses (struct field): the documents have the last word, and kubelet
 * would report it only in a loop of restarts. */
void plan_warn_flags(struct plan *p, const char *component, const struct schema *schema,
		     const struct strv *flags);
/* kubelet's flag for the program that mounts on Container-Optimized OS; NULL elsewhere. */
const char *plan_mounter_flag(const struct plan *p);
/* Returns the file of name servers that pods can reach, if the documents name none: systemd-resolved puts its own
 * loopback address into /etc/resolv.conf. NULL: kubelet takes /etc/resolv.conf, as on older nodes whose admin wrote
 * other servers there. */
const char *plan_resolv_conf(const struct plan *p);
/* The API server as seen from this node. */
const char *plan_api_server(const struct plan *p);
/* Returns whether names are spread by gossip (".k8s.local") instead of DNS. */
bool plan_uses_gossip(const struct plan *p);
/* The same of the cluster's own name, by which kube-proxy is told. */
bool plan_is_gossip_cluster(const struct plan *p);
