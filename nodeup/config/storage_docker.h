/* storage_docker.h - where docker stores, and what kube-up keeps on a master's volume
 * kube-up's DOCKER_STORAGE and KUBE_AWS_STORAGE as a volume of the model, and the storage driver of docker.
 * Owner: the arena. Errors: CONFIG with the places that the dialect says. Threads: all functions.
 * Source: kube-up 1.2 to 1.5 format-disks.sh, mount-master-pd.
 * Tests: test_storage.c. */
#pragma once

#include "nodeup/config/dialect.h"

/* The settings of the documents. */
struct storage_docker {
	struct arena *arena;
	const struct facts *facts;
	const struct dialect_opts *opts; /* its warnings */
	/* DOCKER_STORAGE and KUBE_AWS_STORAGE; both NULL or "": neither is asked for */
	const char *docker_storage, *kube_aws_storage;
	const char *root; /* docker's directory by the documents' options; NULL: they do not say */
	const char *where, *driver_where; /* "file:line:column: " of the first, and of the driver */
	struct tree_pos pos;              /* of the volume */
	struct node *node;                /* gets the volume and the driver */
	struct err *err;
};

/* The volume that kube-up's settings mean. */
extern const char storage_kube_up_name[];

/* Appends the volume of kube-up's settings to those of the documents, and sets the driver that they name. */
int storage_kube_up(const struct storage_docker *s) must_check;
/* One driver out of node->docker_storage that this kernel and a docker of today have, and that works on the file system
 * of docker's directory: that of a volume of the node, all of which are to be there, or of the fact. Of a directory that is
 * not the usual one any driver is left as it is where the file system is not known. */
int storage_driver(const struct storage_docker *s) must_check;
/* Returns the last absolute path of docker's -g, --graph or --data-root; NULL: there is none. */
const char *storage_docker_root(struct arena *a, const char *options);
/* Directories of a master that kube-up keeps on its volume: etcd's data, keys and tokens, the key of its tunnels. */
void storage_master_pd(struct arena *a, struct node_volume *v);
