/* pods.h - whether the static pods that a run wrote have their containers, and whether the API server and etcd answer
 * kubelet starts them from files below its folder of manifests and tells nobody who is not its API server, so the
 * container runtime is asked. A pod is kubelet's "NAME-NODE" of the NAME in its file. Where a program is asked listeners.h says;
 * in the first ten minutes of its container it is starting.
 * Owner: the arena. Errors: none: what cannot be asked is said, and nothing is concluded from it. Units: ns. Threads: one.
 * Tests: test_pods.c. */
#pragma once

#include "nodeup/run/health.h"
#include "nodeup/tasks/task.h"

/* Judge a node that is ready: degraded, and why, if a container of one of its pods does not run, or does not answer. `pods` alone
 * while the run ended less than ten minutes ago, as images may be on their way, or while the container is starting. */
void pods_ask(struct arena *a, int root_fd, struct health *t);
/* "PATH: ..." of each manifest among the tasks whose program runs and does not answer. */
struct strv pods_silent(struct arena *a, const struct task_ctx *ctx, struct task *const *tasks,
			size_t n);
