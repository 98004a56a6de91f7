/* docker.h - docker as a service of the node
 * The docker that is there stays, with settings of the documents; where there is none, a package of the
 * documents' version is installed on the release that it was built for.
 * Owner: the arena of the plan. Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/docker.go.
 * Tests: test_build_docker.c. */
#pragma once

#include "nodeup/plan/host_checks.h"

extern const char plan_docker_unit[];
/* Checks of a host for kubelet and docker of its era, docker_checks.c. */
extern const struct host_check host_checks_of_docker[];
/* LICENSE of this tree, the Apache license. */
extern const char plan_apache_start[];

/* Docker as a dialect's era sets it up. */
struct plan_docker {
	const char *options; /* text of /etc/sysconfig/docker, which sets $DOCKER_OPTS */
	const char *unit;    /* its unit file, where docker is installed here */
	const char
		*prestart;  /* the script that this runs first; NULL: none, or another's to write */
	const char *limits; /* lines for the [Service] of a docker that is there */
	bool is_secret;     /* options */
};

/* Packages of the distribution that a docker to be installed takes; NULL: none is. */
const char *plan_docker_needs(struct plan *p);
/* The storage driver that a docker of today has instead of one that it has no more; a warning says so. */
const char *plan_docker_driver(struct plan *p, const char *driver);
/* The runtime's version is known, and is that or a later one. */
bool plan_docker_is_at_least(const struct plan *p, long major);
/* The service and its settings. */
void plan_docker(struct plan *p, const struct plan_docker *d);
/* Its licence, which kops 1.8 writes with it and kube-up beside any. */
void plan_docker_licence(struct plan *p);
/* Writes what restarts a silent docker: a script, its service and its timer. */
void plan_docker_healthcheck(struct plan *p, const char *script, const char *service,
			     const char *timer);

/* A package of docker, as kops 1.8 or kube-up installs it. */
struct docker_package {
	const char *
		distributions; /* code names and major versions, blank-separated: "jessie", "rhel7" */
	const char *version;   /* of docker: "1.13.1" */
	const char *name, *url, *sha1;
	const char *needs; /* packages of the distribution */
};

extern const struct docker_package docker_packages[];
extern const size_t n_docker_packages;
