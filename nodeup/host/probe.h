/* probe.h - find out what this host is
 * Reads os-release, uname, /proc/filesystems and, where a fact is still missing, IMDS; finds the
 * container runtime that is installed. Nothing is changed and nothing but IMDS is asked.
 * Owner: the arena. Errors: CONFIG (unknown distribution), NET (IMDS). Threads: one.
 * Tests: test_probe.c. */
#pragma once

#include "nodeup/aws/imds.h"
#include "nodeup/config/facts.h"
#include "nodeup/config/node.h"

/* Fill what f lacks from below root_fd: distribution, version, codename, arch, filesystems. With
 * `running` also what only a running host has (uname, /proc, the instance id of its firmware). */
int probe_host(struct arena *a, int root_fd, bool running, struct facts *f,
	       struct err *e) must_check;
/* Fill anew what files that this run writes will say of it: docker's directory with its file system, and the name servers. */
void probe_written(struct arena *a, int root_fd, bool running, const struct node_files *written,
		   struct facts *f);
/* Fill the fact dockerFilesystem: what docker asks of its directory, an absolute path, when it starts, or of the one that it will
 * make it in. NULL: one that is not known. */
void probe_docker_filesystem(struct arena *a, int root_fd, const char *directory, struct facts *f);
/* Fill what kops' own program left here that tells its version: kubeletFlags, containerdConfig. */
void probe_left(struct arena *a, int root_fd, struct facts *f);
/* Fill what IMDS says of this instance, by the fact's name in a facts file ("localHostname"), if f lacks it. One that not
 * every instance has may be missing after it. */
int probe_fact(struct arena *a, struct imds *m, const char *name, struct facts *f,
	       struct err *e) must_check;
/* Ask IMDS at once for all of these facts that f lacks, so that probe_fact need not. */
void probe_facts_ahead(struct imds *m, const char *const *names, size_t n, const struct facts *f);
/* All host names and addresses that IMDS has of instance now, of each of its interfaces; none where it is another's.
 * NET: one of them cannot be had. */
int probe_names(struct arena *a, struct imds *m, const char *instance, struct strv *ret,
		struct err *e) must_check;
/* Returns what IMDS and EC2 told of this instance, of what f has: a map that facts_parse reads. */
struct tree *probe_instance(struct arena *a, const struct facts *f);
/* The runtime whose unit file is installed below root_fd; with `running` also its version and cgroups, for which files that
 * this run writes count as they will be. */
struct runtime probe_runtime(struct arena *a, int root_fd, bool running,
			     const struct node_files *written);
