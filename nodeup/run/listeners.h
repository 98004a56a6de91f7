/* listeners.h - where the programs of static pods that keep a cluster's state are asked whether they answer
 * The API server and etcd, by the manifest that nodeup wrote: a flag names the port, else the livenessProbe does. In a pod with a
 * network of its own nothing is asked.
 * Owner: the arena. Errors: none. Units: none. Threads: all functions.
 * Source: kube-apiserver's --secure-port; etcd-manager's --client-urls; kube-up's etcd.manifest.
 * Tests: test_listeners.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/tree.h"

struct listener {
	const char *container;
	const char *address; /* IPv4 */
	uint16_t port;       /* 0: its manifest turns none on */
};

struct listeners {
	struct listener *v;
	size_t n;
};

/* Those of a pod. */
struct listeners listeners_of(struct arena *a, const struct tree *pod);
