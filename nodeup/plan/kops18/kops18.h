/* kops18.h - the model, as the builders of this room ask for it
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/context.go.
 * Tests: test_build.c. */
#pragma once

#include "nodeup/config/kops18/kops18.h"
#include "nodeup/plan/kops18/builders.h"
#include "nodeup/plan/kubeconfig.h"
#include "nodeup/plan/static_pod.h"

/* Returns the part of the node that only kops 1.8 has. */
const struct kops18_node *kops18_of(const struct plan *p);
/* Returns the path of a file below `srv` of the distribution's layout. */
const char *kops18_in_srv(const struct plan *p, const char *name);
/* Returns the API server's address for this node. */
const char *kops18_api_server(const struct plan *p);
/* Returns whether gossip (".k8s.local") spreads names instead of DNS. */
bool kops18_uses_gossip(const struct plan *p);
/* Returns whether the cluster's own name ends in ".k8s.local": kube-proxy goes by this name. */
bool kops18_is_gossip_cluster(const struct plan *p);
/* Returns the store's text for encryption at rest, if the cluster asks for it and this Kubernetes can; else NULL. */
const char *kops18_encryption_config(const struct plan *p);
/* Warns of flags that this Kubernetes' component refuses (struct field). The run goes on, since the documents have
 * the last word; but a refused flag would show only in a loop of kubelet's restarts. */
void kops18_warn_flags(struct plan *p, const char *component, const struct schema *schema,
		       const struct strv *flags);
/* Adds a kubeconfig (0400) with which user, a key pair of the store, reaches the API server. */
struct task *kops18_kubeconfig(struct plan *p, const char *path, const char *user);
/* Adds a pod of kube-system, with the annotation that Kubernetes needed before 1.10. */
struct pod *kops18_pod(struct plan *p, const char *name, const char *image);
