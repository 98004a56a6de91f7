/* storage.h - what the documents say about disks, and docker's storage driver
 * kops' volumeMounts with selectors beyond a path, and the two settings of kube-up; both become
 * volumes of the model. What cannot be meant is an error with its place before anything is touched.
 * Owner: the arena. Errors: CONFIG with file:line:column. Threads: one.
 * Source: kops pkg/apis/kops VolumeMountSpec; kube-up 1.2 to 1.5 format-disks.sh. */
#pragma once

#include "nodeup/config/kops18/spec.h"

/* A bind of a mount, as it stands in the document. */
struct storage_bind {
	const char *source, *target;
	struct strv units;
};

/* One item of volumeMounts. */
struct storage_mount {
	const char *device, *instance_store, *volume_id, *tag;
	struct strv devices;
	const char *path, *filesystem, *raid, *label;
	struct strv format_options, mount_options;
	struct opt_bool persist;
	struct opt_dur device_timeout;
	struct {
		struct storage_bind *v;
		size_t n;
	} binds;
};

extern const struct schema storage_mount_schema;

/* The volume that kube-up's settings mean. */
extern const char storage_kube_up_name[];

/* Fill the node's volumes from all documents and settle docker's storage driver. */
int kops18_storage(struct kops18_build *b) must_check;
/* Append the volumes of kube-up's settings; called before the driver is settled. */
int storage_kube_up(struct kops18_build *b) must_check;
/* One driver out of docker.storage that this kernel and a docker of today have. */
int storage_driver(struct kops18_build *b) must_check;
/* Check and take over what mkfs and mount are told; tree and path are the item's, for messages. */
int storage_options(struct kops18_build *b, const struct tree *tree, const char *path,
		    const struct storage_mount *m, struct node_volume *v) must_check;
/* kubelet of 1.8 and later does not start where there is swap, unless it is told to. */
int storage_swap(struct kops18_build *b) must_check;
/* Append what one list of volumeMounts wants; tree NULL: nothing. */
int storage_mounts(struct kops18_build *b, const struct tree *list) must_check;
