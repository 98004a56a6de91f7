/* static_pod.h - the pods of this node that kubelet starts from files
 * A program reads the files that its flags name in its container. Each file needs a mount there, and somebody who
 * writes it on this host. A file that nobody writes is a warning.
 * Bodies: pod_files.c.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/kube_*.go.
 * Tests: test_kops_pods.c. */
#pragma once

#include "manifests/manifest.h"
#include "nodeup/plan/plan.h"

/* Returns a pod of kube-system on the host's network that must not be evicted, with its log file mounted. */
struct pod *plan_pod(struct plan *p, const char *name, const char *image);
/* Returns a probe of a program on this host. With path NULL kubelet only connects. */
struct pod_probe plan_probe(const char *path, const char *scheme, int64_t port);
/* Gives the pod the cluster's proxy (a URL), if there is one. */
void plan_proxy_env(const struct plan *p, const struct node_proxy *proxy, struct pod *pod);
/* Mounts the host's CA certificates in the pod. */
void plan_mount_ssl(const struct plan *p, struct pod *pod);
/* Writes the pod's log file, and then its manifest. */
void plan_static_pod(struct plan *p, const struct pod *pod);

/* Mounts the folder of a file, so that a program can rename its log, or a file can be replaced. Mounts nothing for a
 * path without a folder, such as "-" and "/a.log", or for NULL. */
void plan_mount_folder_of(struct plan *p, struct pod *pod, const char *volume, const char *file,
			  bool read_only);
/* Mounts the files that flags of this spec name. The pod must have all its other mounts already. */
void plan_pod_files(struct plan *p, struct pod *pod, const struct schema *s, const void *spec);
/* Checks the files for a manifest that is not ours: warns of missing mounts. Fails the plan if kubelet would refuse
 * the manifest. */
void plan_check_manifest(struct plan *p, const char *from, const char *text);
/* Warns of files that no task writes and that do not exist. All builders must have run. */
void plan_warn_pod_files(struct plan *p);
