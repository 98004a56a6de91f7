/* disruption.h - what becomes of pods while the container runtime is restarted
 * docker stops all that it runs, unless it was started with live-restore; containerd's containers go on. Which pods these are docker
 * says; while it does not answer, the logs that kubelet names by pods do, and the static pods.
 * Owner: the arena. Errors: none: what cannot be found out is left out. Threads: one.
 * Source: dockerd --live-restore; Kubernetes pkg/kubelet/kuberuntime/legacy.go, ContainerLogsDir.
 * Tests: test_disruption.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/str.h"

struct disruption {
	bool stop;        /* all pods */
	struct strv pods; /* those that are known by name, sorted */
};

/* Returns what a restart of this unit, which is active and whose main process is pid, does to pods. */
struct disruption disruption_of(struct arena *a, int root_fd, const char *unit, uint32_t pid);
/* "docker stops the containers of all pods: kube-proxy-x, web-1", or "pods stay". */
const char *disruption_text(struct arena *a, const struct disruption *f);
