/* containers.h - which of kubelet's containers run, as the container runtime says
 * kubelet labels each container with its pod, its namespace and its own name. docker has the own name in the
 * container's name too, in every version: "/k8s_NAME..._POD_NAMESPACE_...". Only the runtime is asked, never
 * kubelet.
 * Owner: the arena. Errors: SYSTEM, NET: the runtime does not answer, or a user who is not root asks. Threads: one.
 * Source: Kubernetes 1.2 to 1.10 pkg/kubelet/dockershim/naming.go and dockertools; ctr(8), containerd's filters.
 * Tests: test_containers.c. */
#pragma once

#include "assets/http/http.h"

/* The socket at which docker is asked. */
extern const char docker_socket[];

struct container_query {
	const char *namespace_; /* namespace of the container's pod; NULL: any */
	const char *name;       /* name of the container in its pod; NULL: any */
	struct http *http;
};

/* A running container. */
struct container {
	const char *id, *pod;
	int64_t began_ns; /* by CLOCK_REALTIME; 0: not known */
};

struct containers {
	struct container *v;
	size_t n;
};

/* Asks docker for the running containers of this name, and adds them to ret. */
int containers_of_docker(struct arena *a, const struct container_query *q, struct containers *ret,
			 struct err *e) must_check;
/* Like containers_of_docker, but asks containerd. The query must have a namespace and a name. */
int containers_of_containerd(struct arena *a, const struct container_query *q,
			     struct containers *ret, struct err *e) must_check;
/* Gives the id of any container that containerd has for kubelet, whether it runs or not; *ret NULL: there is none. */
int containers_any(struct arena *a, const char **ret, struct err *e) must_check;
