/* static_pod.h - the pods of this node that kubelet starts from files
 * A program reads the files that its flags name in its container: each needs a mount there, and on this host somebody who
 * writes it. A file that nobody writes is a warning.
 * Bodies: pod_files.c.
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

/* Mount the folder of a file: of a log that the program renames, or of what may be replaced. Nothing of one without a folder, as
 * "-" and "/a.log" are, and of NULL. */
void plan_mount_folder_of(struct plan *p, struct pod *pod, const char *volume, const char *file,
			  bool read_only);
/* Mount what flags of this spec name, and no mount of the pod brings yet; it has all others. */
void plan_pod_files(struct plan *p, struct pod *pod, const struct schema *s, const void *spec);
/* The same of a manifest that is another's: what it lacks is told, and what kubelet would refuse fails the plan. */
void plan_check_manifest(struct plan *p, const char *from, const char *text);
/* All builders are through: warn of files that no task writes and that are not there. */
void plan_warn_pod_files(struct plan *p);
