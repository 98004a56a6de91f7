/* runtime.h - the container runtime of a host, as probing found it: a fact like those of facts.h
 * Owner: the arena of the struct that holds it. Errors: none. Threads: const after probing. */
#pragma once

#include <stdbool.h>

/* The container runtime of this machine, as probing found it. */
struct runtime {
	const char *unit;    /* "docker.service"; NULL: none found */
	const char *masked;  /* the first of those that are masked; NULL: none is */
	const char *version; /* "20.10.24"; NULL unknown */
	bool is_ours;        /* its unit is the one that kops and we write, not a vendor's */
	/* what docker's unit has to run so that $DOCKER_OPTS reach it; NULL: it reads them as it is */
	const char *exec_start;
	bool is_late;              /* a drop-in behind 10-kops.conf has a say in that */
	int cgroup;                /* version of the host's cgroups; 0 unknown */
	const char *cgroup_driver; /* that it is told to use; NULL: its default */
	/* the kernel has AppArmor on, and the program that loads its profiles is missing */
	bool lacks_apparmor_parser;
	bool lacks_ipvs; /* the kernel has no ip_vs, and none to load */
};
