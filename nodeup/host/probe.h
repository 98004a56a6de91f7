/* probe.h - finds the facts of this host
 * Reads os-release, uname and /proc/filesystems, and asks IMDS for facts that are still missing. Finds the installed
 * container runtime. Changes nothing and asks no other server.
 * Owner: the arena. Errors: CONFIG (unknown distribution), NET (IMDS). Threads: one.
 * Tests: test_probe.c. */
#pragma once

#include "nodeup/aws/imds.h"
#include "nodeup/config/facts.h"
#include "nodeup/config/node.h"

/* Fills the facts that f lacks from below root_fd: distribution, version, codename, arch, filesystems. running: also
 * facts that only a running host has (uname, /proc, the instance id in its firmware). */
int probe_host(struct arena *a, int root_fd, bool running, struct facts *f,
	       struct err *e) must_check;
/* Fills anew the facts that files of this run change: docker's directory with its file system, and the name servers. */
void probe_written(struct arena *a, int root_fd, bool running, const struct node_files *written,
		   struct facts *f);
/* Fills the fact dockerFilesystem: the file system on which docker has, or will make, its directory, an absolute
 * path. The fact becomes NULL if nodeup does not know that file system. */
void probe_docker_filesystem(struct arena *a, int root_fd, const char *directory, struct facts *f);
/* Fills the facts by which kops' own program left its version here: kubeletFlags, containerdConfig. */
void probe_left(struct arena *a, int root_fd, struct facts *f);
/* Asks IMDS for a fact, by its name in a facts file ("localHostname"), if f lacks it. If this instance does not have
 * such a fact, f still lacks it afterwards. */
int probe_fact(struct arena *a, struct imds *m, const char *name, struct facts *f,
	       struct err *e) must_check;
/* Asks IMDS at once for all of these facts that f lacks, so that probe_fact finds the answers ready. */
void probe_facts_ahead(struct imds *m, const char *const *names, size_t n, const struct facts *f);
/* Lists all host names and addresses of the instance's interfaces. Lists none if this is another instance. NET: one
 * of them cannot be read. */
int probe_names(struct arena *a, struct imds *m, const char *instance, struct strv *ret,
		struct err *e) must_check;
/* Returns the facts in f that IMDS and EC2 gave, as a map that facts_parse reads. */
struct tree *probe_instance(struct arena *a, const struct facts *f);
/* Finds the runtime whose unit file is installed below root_fd. running: also its version and cgroups. Files that
 * this run will write count as written. */
struct runtime probe_runtime(struct arena *a, int root_fd, bool running,
			     const struct node_files *written);
