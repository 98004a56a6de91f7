/* pods.h - whether the static pods that a run wrote have their containers, and whether the API server and etcd answer
 * kubelet starts them from files below its folder of manifests and tells nobody who is not its API server, so the
 * container runtime is asked. A pod is kubelet's "NAME-NODE" of the NAME in its file. It is asked where a flag or the
 * livenessProbe of the manifest says. Until it has answered once it is starting, for ten minutes from the start of its
 * container at most. Those that answered are on record, by the id of their container, if this user may write it.
 * Owner: the arena. Errors: none: what cannot be asked is said, and nothing is concluded from it. Units: ns. Threads: one.
 * Bodies: listeners.c.
 * Tests: test_pods.c, test_listeners.c. */
#pragma once

#include "nodeup/run/health.h"
#include "nodeup/tasks/task.h"

/* Judge a node that is ready: degraded, and why, if a container of one of its pods does not run, or does not answer. `pods` alone
 * while the run ended less than ten minutes ago, as images may be on their way, or while the program is starting. */
void pods_ask(struct arena *a, int root_fd, struct health *t);
/* Lists "PATH: ..." for each manifest among the tasks whose program runs but does not answer. */
struct strv pods_silent(struct arena *a, const struct task_ctx *ctx, struct task *const *tasks,
			size_t n);

/* The port where a program that keeps a cluster's state is asked whether it answers. */
struct listener {
	const char *container;
	const char *address; /* IPv4 */
	uint16_t port;       /* 0: its manifest opens none */
};

struct listeners {
	struct listener *v;
	size_t n;
};

/* Those of a pod: the API server's and etcd's, by the manifest that nodeup wrote. A flag names the port, else the livenessProbe
 * does. In a pod with a network of its own nothing is asked.
 * Source: kube-apiserver's --secure-port; etcd-manager's --client-urls; kube-up's etcd.manifest. */
struct listeners listeners_of(struct arena *a, const struct tree *pod);
