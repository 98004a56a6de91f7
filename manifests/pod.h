/* pod.h - the part of a core/v1 Pod that static pods of a control plane use
 * Typed, so that a builder cannot misspell a field; manifest.c writes it as YAML in upstream's order.
 * Owner: the arena. Errors: none. Source: k8s.io/api core/v1 types.go. */
#pragma once

#include <stdint.h>
#include "nodeup/base/str.h"

struct pod_mount {
	const char *name, *path;
	bool read_only;
};

struct pod_port {
	const char *name;
	int64_t container_port, host_port;
};

struct pod_env {
	const char *name, *value;
};

struct pod_probe {
	const char *host, *path, *scheme; /* httpGet; path NULL: tcpSocket */
	int64_t port;                     /* 0: no probe */
	int64_t initial_delay, timeout;
};

struct pod_volume {
	const char *name, *host_path;
};

struct pod_container {
	const char *name, *image;
	struct strv command;
	struct pod_env *env;
	size_t n_env;
	struct pod_port *ports;
	size_t n_ports;
	struct pod_mount *mounts;
	size_t n_mounts;
	struct pod_probe liveness;
	const char *cpu_request; /* NULL: none */
	bool privileged;
};

struct pod_toleration {
	const char *key, *op;
};

struct pod {
	const char *name, *namespace_;
	struct strmap labels, annotations;
	bool host_network;
	struct pod_container container; /* one a pod is all we need */
	struct pod_volume *volumes;
	size_t n_volumes;
	struct pod_toleration *tolerations;
	size_t n_tolerations;
};
