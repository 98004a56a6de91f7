/* storage_docker.h - docker's storage, and the data that kube-up keeps on a master's volume
 * Turns kube-up's DOCKER_STORAGE and KUBE_AWS_STORAGE into a volume of the model, and sets docker's storage driver.
 * Owner: the arena. Errors: CONFIG with the places that the dialect gives. Threads: all functions.
 * Source: kube-up 1.2 to 1.5 format-disks.sh, mount-master-pd.
 * Tests: test_storage.c. */
#pragma once

#include "nodeup/config/dialect.h"

/* The settings of the documents. */
struct storage_docker {
	struct arena *arena;
	const struct facts *facts;
	const struct dialect_opts *opts; /* options of the dialect, which take the warnings */
	/* DOCKER_STORAGE and KUBE_AWS_STORAGE; NULL or "": not given */
	const char *docker_storage, *kube_aws_storage;
	const char *root; /* docker's directory in the documents' options; NULL: not given */
	/* "file:line:column: " of the first setting, and of the driver */
	const char *where, *driver_where;
	struct tree_pos pos; /* place of the volume in the documents */
	struct node *node;   /* gets the volume and the driver */
	struct err *err;
};

/* The name of the volume that kube-up's settings describe. */
extern const char storage_kube_up_name[];

/* Appends the volume of kube-up's settings, and sets the driver that they name. */
int storage_kube_up(const struct storage_docker *s) must_check;
/* Returns a volume on the instance store, with the directories of kubelet and the container runtime bound to it. nth:
 * which disk; -1: all of them. docker: docker's directory as well. */
struct node_volume storage_on_store(struct arena *a, const char *name, const char *filesystem,
				    int64_t nth, bool docker, struct tree_pos pos);
/* Chooses a driver of those in node->docker_storage. The kernel and an installed docker must have the driver, and it
 * must work on the file system of docker's directory. If a volume of the node holds the directory, the volume's file
 * system counts (all volumes must be known); otherwise the fact of the host counts. If neither file system is known
 * and the directory is not the usual one, any driver will do. */
int storage_driver(const struct storage_docker *s) must_check;
/* Returns the last absolute path of docker's -g, --graph or --data-root; NULL: there is none. */
const char *storage_docker_root(struct arena *a, const char *options);
/* Adds the directories that kube-up keeps on a master's volume: etcd's data, keys and tokens, the key of its
 * tunnels. */
void storage_master_pd(struct arena *a, struct node_volume *v);
