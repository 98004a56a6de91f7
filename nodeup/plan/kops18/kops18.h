/* kops18.h - what the builders of this room ask of the model
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/context.go.
 * Tests: test_build.c. */
#pragma once

#include "nodeup/config/kops18/kops18.h"
#include "nodeup/plan/kops18/builders.h"
#include "nodeup/plan/kubeconfig.h"
#include "nodeup/plan/static_pod.h"

/* Returns what the plan's node has as one of kops 1.8. */
const struct kops18_node *kops18_of(const struct plan *p);
/* A file below the layout's srv. */
const char *kops18_in_srv(const struct plan *p, const char *name);
/* The API server as seen from this node. */
const char *kops18_api_server(const struct plan *p);
/* Returns whether names are spread by gossip (".k8s.local") instead of DNS. */
bool kops18_uses_gossip(const struct plan *p);
/* The same of the cluster's own name, by which kube-proxy is told. */
bool kops18_is_gossip_cluster(const struct plan *p);
/* Encryption at rest: the store's text where the cluster asks for it and Kubernetes can, or NULL. */
const char *kops18_encryption_config(const struct plan *p);
/* Warns of flags of the schema that the component of this Kubernetes refuses (struct field). The documents have the last word, and
 * kubelet would report it only in a loop of restarts. */
void kops18_warn_flags(struct plan *p, const char *component, const struct schema *schema,
		       const struct strv *flags);
/* A kubeconfig (0400) by which user, a key pair of the store, reaches the API server. */
struct task *kops18_kubeconfig(struct plan *p, const char *path, const char *user);
/* A pod of kube-system as Kubernetes wanted it before 1.10, with an annotation. */
struct pod *kops18_pod(struct plan *p, const char *name, const char *image);
