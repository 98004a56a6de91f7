/* docker_packages.h - the packages of docker that kops 1.8 and kube-up install, by release and version
 * Owner: static tables. Errors: none. Threads: all functions. Source: kops 1.8.1 nodeup/pkg/model/docker.go.
 * Tests: test_build_docker.c. */
#pragma once

#include <stddef.h>

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
