/* registered.h - when the API server registered this node, and since when the node is Ready
 * Asks for the node's own object with the rights of kubelet's kubeconfig: once, and for at most a second.
 * Invariant: only the CA of the kubeconfig makes a server trusted. No part of the kubeconfig is shown.
 * Owner: nothing is kept. Errors: none: what cannot be learnt is -1. Units: seconds since 1970. Threads: one.
 * Source: the Node object of Kubernetes' API.
 * Tests: test_timeline_command.py. */
#pragma once

#include <stdint.h>
#include "nodeup/base/mem.h"

struct registered {
	int64_t registered_s, ready_s;
};

/* Returns both times. Neither is known if the API server gives no answer that can be trusted. */
struct registered registered_ask(struct arena *a, int root_fd);
