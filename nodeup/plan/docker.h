/* docker.h - docker as a service of the node
 * A docker that is already installed stays, and gets the settings of the documents. On a host without docker, the
 * package of the documents' version is installed, if it was built for this release.
 * Owner: the arena of the plan.
 * Errors: the plan's. Threads: one.
 * Source: kops 1.8.1 nodeup/pkg/model/docker.go.
 * Tests: test_build_docker.c. */
#pragma once

#include "nodeup/plan/host_checks.h"

extern const char plan_docker_unit[];
/* Lists the checks of a host for the kubelet and docker of kops 1.8 and kube-up; see docker_checks.c. */
extern const struct host_check host_checks_of_docker[];
/* The text of this tree's LICENSE, the Apache license. */
extern const char plan_apache_start[];

/* Says how the era of a dialect sets docker up. */
struct plan_docker {
	const char *options; /* text of /etc/sysconfig/docker, which sets $DOCKER_OPTS */
	const char *unit;    /* docker's unit file, used if nodeup installs docker */
	/* the script that the unit runs first; NULL: none, or another builder writes it */
	const char *prestart;
	/* lines for the [Service] section of a docker that is already installed */
	const char *limits;
	bool is_secret; /* the options hold a secret */
};

/* Returns the packages of the distribution that docker needs; NULL: docker is not installed here. */
const char *plan_docker_needs(struct plan *p);
/* Returns the storage driver to use instead of one that docker has removed, and warns of it. */
const char *plan_docker_driver(struct plan *p, const char *driver);
/* Returns whether the runtime's version is known and is at least that major version. */
bool plan_docker_is_at_least(const struct plan *p, long major);
/* Sets up the service with its settings. */
void plan_docker(struct plan *p, const struct plan_docker *d);
/* Writes docker's licence: kops 1.8 does so when it installs docker, kube-up always. */
void plan_docker_licence(struct plan *p);
/* Writes a script with its service and timer, which restart docker when it does not answer. */
void plan_docker_healthcheck(struct plan *p, const char *script, const char *service,
			     const char *timer);

/* Describes a package of docker, as kops 1.8 or kube-up installs it. */
struct docker_package {
	/* code names and major versions, blank-separated: "jessie", "rhel7" */
	const char *distributions;
	const char *version; /* version of docker itself: "1.13.1" */
	const char *name, *url, *sha1;
	const char *needs; /* packages of the distribution */
};

extern const struct docker_package docker_packages[];
extern const size_t n_docker_packages;
