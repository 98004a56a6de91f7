/* pod.h - the part of a core/v1 Pod that static pods of a control plane use
 * Typed, so that a builder cannot misspell a field; manifest.c writes it as YAML in upstream's order.
 * Owner: the arena. Errors: none. Source: k8s.io/api core/v1 types.go. */
#pragma once

#include <stdint.h>
#include "nodeup/base/tree.h"

/* Kubelet finds its static pods here. */
#define POD_MANIFESTS "/etc/kubernetes/manifests"

struct pod_mount {
	const char *name, *path;
	bool read_only;
};

struct pod_port {
	const char *name;
	int64_t port; /* of the container, and of the host */
};

struct pod_env {
	const char *name, *value;
	const struct tree *whole; /* all of it as a document has it, instead; or NULL */
};

struct pod_probe {
	const char *host, *path, *scheme; /* httpGet; path NULL: tcpSocket */
	int64_t port;                     /* 0: no probe */
	int64_t initial_delay, timeout;
	int64_t failures, period; /* 0: not said; so with the delay */
};

struct pod_volume {
	const char *name, *host_path;
	const char *type; /* "FileOrCreate"; NULL: not said */
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
	bool is_stamped; /* creationTimestamp is there, and null, as Go wrote it until Kubernetes 1.34 */
	const char *priority_class; /* NULL: none */
	const char *selinux_type;   /* "spc_t"; NULL: none */
	bool is_private; /* a variable may hold a password: the manifest is for root alone */
	struct pod_container container; /* the one that we make */
	struct pod_volume *volumes;
	size_t n_volumes;
	struct pod_toleration *tolerations;
	size_t n_tolerations;
	/* a pod that was read (manifest_read): its containers and volumes stand behind ours; or NULL */
	const struct tree *sidecar;
};
