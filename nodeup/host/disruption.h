/* disruption.h - what happens to pods when the container runtime restarts
 * docker stops all containers, unless it was started with live-restore; the containers of containerd go on. docker
 * names the pods. If docker does not answer, kubelet's log directories and the static pods name the pods.
 * Owner: the arena. Errors: none: unknown pods are left out. Threads: one.
 * Source: dockerd --live-restore; Kubernetes pkg/kubelet/kuberuntime/legacy.go, ContainerLogsDir.
 * Tests: test_disruption.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/str.h"

struct disruption {
	bool stop;        /* all pods */
	struct strv pods; /* the pods with a known name, sorted */
};

/* Returns what a restart of this active unit, whose main process is pid, does to pods. */
struct disruption disruption_of(struct arena *a, int root_fd, const char *unit, uint32_t pid);
/* Words a disruption: "docker stops the containers of all pods: kube-proxy-x, web-1", or "pods stay". */
const char *disruption_text(struct arena *a, const struct disruption *f);
