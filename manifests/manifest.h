/* manifest.h - a pod as the YAML file that kubelet reads, and helpers to fill one
 * Owner: the arena. Errors: CONFIG (a pod that kubelet would refuse). Source: kops 1.8.1
 * nodeup/pkg/model kube_*.go; compared as parsed YAML, since kops' writer folds lines.
 * Tests: test_manifest.c. */
#pragma once

#include "manifests/pod.h"
#include "nodeup/base/err.h"

/* Returns the pod's volume of that name, or NULL. */
const struct pod_volume *pod_volume(const struct pod *p, const char *name);
/* Mount a host path: adds the volume and the container's mount at the same path unless `at` is set. name NULL: the
 * path without its slashes, "/usr/share/ssl" as volume "usrsharessl". A path that is mounted there already is not
 * added again: its mount may be written if one of the two may. */
void pod_host_path(struct arena *a, struct pod *p, const char *name, const char *host_path,
		   const char *at, bool read_only);
/* Have the pod run bin with flags in a shell, which appends the output to log through tee. */
void pod_shell_command(struct arena *a, struct pod *p, const char *bin, const struct strv *flags,
		       const char *tee, const char *log);
/* Fails if kubelet would not take a mount of the pod's containers. Each wants a volume that is there, and a path of
 * its own. */
int manifest_check(struct arena *a, const struct tree *pod, struct err *e) must_check;
/* Write the manifest's text. */
int manifest_render(struct arena *a, const struct pod *p, char **ret_text,
		    struct err *e) must_check;
/* Read the manifest of a pod that others made. It stays as it stands: what we do not know of a pod is in it as well. */
int manifest_read(struct arena *a, const char *file, const char *text, struct tree **ret,
		  struct err *e) must_check;
/* Write the text of such a pod (which is changed) with the type that SELinux is to give its processes. */
int manifest_label(struct arena *a, struct tree *pod, const char *selinux_type, char **ret_text,
		   struct err *e) must_check;
