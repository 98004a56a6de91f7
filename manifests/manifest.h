/* manifest.h - a pod as the YAML file that kubelet reads, and helpers to fill one
 * Owner: the arena. Errors: CONFIG (a pod that kubelet would refuse). Source: kops 1.8.1
 * nodeup/pkg/model kube_*.go; compared as parsed YAML, since kops' writer folds lines.
 * Tests: test_manifest.c. */
#pragma once

#include "manifests/pod.h"
#include "nodeup/base/err.h"

/* Returns the pod's volume of that name, or NULL. */
const struct pod_volume *pod_volume(const struct pod *p, const char *name);
/* Mounts a host path: adds the volume, and the container's mount, at `at` or (if `at` is NULL) at the same path. If
 * name is NULL, the volume is named like the path without its slashes: "/usr/share/ssl" is "usrsharessl". A path
 * that is mounted already is not mounted again. If the new mount is writable, the existing mount becomes writable. */
void pod_host_path(struct arena *a, struct pod *p, const char *name, const char *host_path,
		   const char *at, bool read_only);
/* Makes the pod run bin with flags in a shell that appends the output to log by tee. */
void pod_shell_command(struct arena *a, struct pod *p, const char *bin, const struct strv *flags,
		       const char *tee, const char *log);
/* Fails if kubelet would refuse a mount of the pod's containers. Each mount needs a volume and a path of its own. */
int manifest_check(struct arena *a, const struct tree *pod, struct err *e) must_check;
/* Writes the manifest's text. */
int manifest_render(struct arena *a, const struct pod *p, char **ret_text,
		    struct err *e) must_check;
/* Reads a manifest that others wrote. Parts that nodeup does not know are kept as they are. */
int manifest_read(struct arena *a, const char *file, const char *text, struct tree **ret,
		  struct err *e) must_check;
/* Writes the text of a pod that manifest_read returned, with this SELinux type for its processes. Changes pod. */
int manifest_label(struct arena *a, struct tree *pod, const char *selinux_type, char **ret_text,
		   struct err *e) must_check;
