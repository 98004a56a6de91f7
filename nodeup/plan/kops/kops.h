/* kops.h - what the builders of this room ask of the model
 * Bodies: build_manifests.c, kops.c, kubelet_config.c, max_pods.c.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.37 nodeup/pkg/model/context.go.
 * Tests: test_kops_changes_written.c, test_kops_pods.c, test_kops_kubelet.c,
 * test_kops_kubelet.py. */
#pragma once

#include "nodeup/config/kops/changes.h"
#include "nodeup/config/kops/model.h"
#include "nodeup/plan/kops/builders.h"
#include "nodeup/plan/host_checks.h"
#include "nodeup/plan/kubeconfig.h"

/* The model of the plan's node. */
const struct kops_node *kops_of(const struct plan *p);
/* Returns whether the kops of its documents does that. */
bool kops_has(const struct plan *p, enum kops_change change);
/* The certificates of kubernetes-ca, all generations. */
const char *kops_ca(const struct plan *p);
/* Returns whether an API server runs here. */
bool kops_has_api_server(const struct plan *p);
/* Returns the name of all API servers inside the cluster: "api.internal.minimal.example.com". */
const char *kops_internal_name(const struct plan *p);
/* Returns whether pods have addresses of version 6 alone. */
bool kops_is_ipv6_only(const struct plan *p);
/* Returns the most pods that may run here, if the network gives each an address of the instance; else unset. */
struct opt_int kops_max_pods(struct plan *p);
/* A kubeconfig (0400) by which user, a key pair of the node, reaches the API server. */
struct task *kops_kubeconfig(struct plan *p, const char *path, const char *user);
/* Returns whether this instance is made ready for a warm pool: all is done but that kubelet runs. */
bool kops_is_warming(const struct plan *p);
/* The way to the outside, if the documents name one (a url). */
struct node_proxy kops_proxy(struct plan *p);
/* Puts the value of each flag that has a quote in it in quotes. */
void kops_quote_flags(struct plan *p, struct strv *flags);
/* The flags of a spec for a file of environment variables: from kops 1.31 on a value with a quote stands in quotes. */
struct strv kops_flags(struct plan *p, const struct schema *schema, const void *spec);
/* Returns whether the documents themselves bring a file of that path. */
bool kops_brings_file(const struct plan *p, const char *path);
/* A cgroup's slice, without the ending: "/kube/" is kube. */
const char *kops_slice(const struct plan *p, const char *cgroup);
/* Returns whether there is one of that cgroup. */
bool kops_has_slice(const struct plan *p, const char *cgroup);
/* The line of a unit that puts its service there; "" without one. */
const char *kops_slice_line(const struct plan *p, const char *cgroup);
/* What a host must have for programs of today's kops. */
extern const struct host_check kops_host_checks[];
/* The text of a manifest of others at that place. "" where documents are looked at alone, and when the plan fails. */
const char *kops_manifest_text(struct plan *p, const char *from);
/* The files of the certificate that kubelet shows. */
extern const char kops_server_cert[], kops_server_key[];
/* Returns where kubelet finds containerd: a URL. */
const char *kops_runtime_endpoint(const struct plan *p);
/* KubeletConfiguration made of kubelet's settings, with what Go writes although it is not set. "" when the plan fails. */
const char *kops_kubelet_config(struct plan *p, const struct kops_kubelet *spec);
