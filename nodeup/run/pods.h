/* pods.h - whether a run's static pods have their containers, and whether the API server and etcd answer
 * kubelet starts static pods from the files in its folder of manifests, and reports them only to its API server. So
 * the container runtime is asked. kubelet names a pod "NAME-NODE", after the NAME in its file. A program is asked at
 * the port that a flag or the manifest's livenessProbe names. Until its first answer a program counts as starting,
 * for ten minutes from the start of its container at most. The ids of containers that answered are recorded, if this
 * user may write the record.
 * Owner: the arena. Errors: none: a program that cannot be asked is named, and nothing is concluded about it. Units:
 * ns.
 * Threads: one.
 * Bodies: listeners.c.
 * Tests: test_pods.c, test_listeners.c. */
#pragma once

#include "nodeup/run/health.h"
#include "nodeup/tasks/task.h"

/* Judges a ready node. If a container of the node's static pods does not run or does not answer, the node is
 * degraded, and `why` is set. If the run ended less than ten minutes ago (images may be on their way), or the
 * program is still starting, only `pods` is set. */
void pods_ask(struct arena *a, int root_fd, struct health *t);
/* Lists "PATH: ..." for each manifest among the tasks whose program runs but does not answer. */
struct strv pods_silent(struct arena *a, const struct task_ctx *ctx, struct task *const *tasks,
			size_t n);

/* The port where a program that keeps a cluster's state is asked whether it answers. */
struct listener {
	const char *container;
	const char *address; /* IPv4 */
	uint16_t port;       /* 0: the manifest opens no port */
};

struct listeners {
	struct listener *v;
	size_t n;
};

/* Returns the listeners of a pod, the API server's and etcd's, by the manifest that nodeup wrote. A flag names the
 * port; without the flag, the livenessProbe names it. A pod with its own network is not asked.
 * Source: kube-apiserver's --secure-port; etcd-manager's --client-urls; kube-up's etcd.manifest. */
struct listeners listeners_of(struct arena *a, const struct tree *pod);
