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

/* Returns the model of the planned node. */
const struct kops_node *kops_of(const struct plan *p);
/* Returns whether the kops of the node's documents makes this change. */
bool kops_has(const struct plan *p, enum kops_change change);
/* Returns the certificates of kubernetes-ca, of all generations. */
const char *kops_ca(const struct plan *p);
/* Returns whether an API server runs here. */
bool kops_has_api_server(const struct plan *p);
/* Returns the name inside the cluster that means every API server: "api.internal.minimal.example.com". */
const char *kops_internal_name(const struct plan *p);
/* Returns whether pods have only IPv6 addresses. */
bool kops_is_ipv6_only(const struct plan *p);
/* Returns how many pods may run here, if the network gives each an address of the instance; otherwise unset. */
struct opt_int kops_max_pods(struct plan *p);
/* Writes a kubeconfig (0400) for `user`, a key pair of the node, to reach the API server. */
struct task *kops_kubeconfig(struct plan *p, const char *path, const char *user);
/* Returns whether this instance is being prepared for a warm pool: everything is set up, but kubelet does not run. */
bool kops_is_warming(const struct plan *p);
/* Returns the proxy (a URL) that the documents name, if any. */
struct node_proxy kops_proxy(struct plan *p);
/* Quotes the value of each flag that has a quote in it. */
void kops_quote_flags(struct plan *p, struct strv *flags);
/* Returns a spec's flags for a file of environment variables. From kops 1.31 on, a value with a quote in it is
 * quoted. */
struct strv kops_flags(struct plan *p, const struct schema *schema, const void *spec);
/* Returns whether the documents bring a file at that path. */
bool kops_brings_file(const struct plan *p, const char *path);
/* Returns a cgroup's slice without the ending: "/kube/" is kube. */
const char *kops_slice(const struct plan *p, const char *cgroup);
/* Returns whether a slice is written for that cgroup. */
bool kops_has_slice(const struct plan *p, const char *cgroup);
/* Returns the line of a unit that puts its service in the slice; "" without a cgroup. */
const char *kops_slice_line(const struct plan *p, const char *cgroup);
/* What a host must have for programs of today's kops. */
extern const struct host_check kops_host_checks[];
/* Returns the text of the manifest at that place, which others wrote. "" if only documents are checked, or if the
 * plan fails. */
const char *kops_manifest_text(struct plan *p, const char *from);
/* The files of the certificate that kubelet shows. */
extern const char kops_server_cert[], kops_server_key[];
/* Returns where kubelet finds containerd: a URL. */
const char *kops_runtime_endpoint(const struct plan *p);
/* Returns the KubeletConfiguration made of kubelet's settings, with the fields that Go writes even if they are not
 * set. "" when the plan fails. */
const char *kops_kubelet_config(struct plan *p, const struct kops_kubelet *spec);
