/* pods.h - whether the static pods that a run wrote have their containers
 * kubelet starts them from files below its folder of manifests and tells nobody who is not its API server, so the
 * container runtime is asked. A pod is kubelet's "NAME-NODE" of the NAME in its file.
 * Owner: the arena. Errors: none: what cannot be asked is said, and nothing is concluded from it. Units: ns. Threads: one. */
#pragma once

#include "nodeup/run/told.h"

/* Of a node that is ready: degraded, and why, if a container of one of its pods does not run, and `pods` alone while the
 * run ended less than ten minutes ago, as images may be on their way. */
void pods_ask(struct arena *a, int root_fd, struct told *t);
