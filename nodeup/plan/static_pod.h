/* static_pod.h - the pods of this node that kubelet starts from files
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/kube_*.go.
 * Tests: test_kops_pods.c. */
#pragma once

#include "manifests/manifest.h"
#include "nodeup/plan/plan.h"

/* A pod of kube-system on the host's network that must not be evicted; its log file is mounted. */
struct pod *plan_pod(struct plan *p, const char *name, const char *image);
/* Returns kubelet's probe of a program on this host. path NULL: it only connects. */
struct pod_probe plan_probe(const char *path, const char *scheme, int64_t port);
/* Tell the pod of the cluster's proxy, if there is one (a url). */
void plan_proxy_env(const struct plan *p, const struct node_proxy *proxy, struct pod *pod);
/* Show the pod the CA certificates of this host. */
void plan_mount_ssl(const struct plan *p, struct pod *pod);
/* Write the pod's manifest, and its log file first. */
void plan_static_pod(struct plan *p, const struct pod *pod);
