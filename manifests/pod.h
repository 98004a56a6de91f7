/* pod.h - the part of a core/v1 Pod that static pods of a control plane use
 * Typed, so that a builder cannot misspell a field. manifest.c writes it as YAML in upstream's order.
 * Owner: the arena. Errors: none. Source: k8s.io/api core/v1 types.go. */
#pragma once

#include <stdint.h>
#include "nodeup/base/tree.h"

/* kubelet's directory of static pods. */
#define POD_MANIFESTS "/etc/kubernetes/manifests"

struct pod_mount {
	const char *name, *path;
	bool read_only;
};

struct pod_port {
	const char *name;
	int64_t port; /* port of the container and of the host */
};

struct pod_env {
	const char *name, *value;
	/* the whole section as a document has it, written in place of the members above; or NULL */
	const struct tree *whole;
};

struct pod_probe {
	const char *host, *path, *scheme; /* of httpGet; if path is NULL, of tcpSocket */
	int64_t port;                     /* 0: no probe */
	int64_t initial_delay, timeout;
	int64_t failures, period; /* each of these four numbers is left out if it is 0 */
};

struct pod_volume {
	const char *name, *host_path;
	const char *type; /* "FileOrCreate"; NULL: left out */
};

struct pod_container {
	const char *name, *image;
	struct strv command, args;
	struct pod_env *env;
	size_t n_env;
	struct pod_port *ports;
	size_t n_ports;
	struct pod_mount *mounts;
	size_t n_mounts;
	struct pod_probe liveness, readiness, startup;
	const char *cpu_request, *memory_request, *cpu_limit, *memory_limit; /* NULL: none */
	bool privileged;
};

struct pod_toleration {
	const char *key, *op;
};

struct pod {
	const char *name, *namespace_;
	struct strmap labels, annotations;
	bool host_network;
	bool is_stamped; /* writes creationTimestamp: null, as Go did until Kubernetes 1.34 */
	const char *priority_class; /* NULL: none */
	const char *selinux_type;   /* "spc_t"; NULL: none */
	bool is_private; /* only root may read the manifest, as a variable may hold a password */
	struct pod_container container; /* the container that nodeup makes */
	struct pod_volume *volumes;
	size_t n_volumes;
	struct pod_toleration *tolerations;
	size_t n_tolerations;
	/* a pod that was read from a manifest; its containers and volumes follow ours; or NULL */
	const struct tree *sidecar;
};
