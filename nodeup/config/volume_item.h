/* volume_item.h - an item of a list of volumes, on its way from the documents into the model
 * Every dialect describes disks in part the same way: device paths, options, and the services that use the mount
 * point. A dialect fills in v step by step.
 * Invariant: pure. Owner: the arena. Errors: CONFIG with the place of the key. Threads: one.
 * Source: kops pkg/apis/kops VolumeMountSpec; mount(8).
 * Tests: test_field_secrets.c. */
#pragma once

#include "nodeup/config/dialect.h"

struct volume_item {
	struct arena *arena;
	const struct tree *tree; /* the item as the document has it */
	const char *path;        /* "volumeMounts[0]" */
	bool is_extended; /* the item may also have nodeup's own keys: volumeID, binds, deviceTimeout */
	const struct facts *facts;
	const struct dialect_opts *opts;
	struct node_volume v;
	struct err *err;
};

/* Makes the error "f:2:1: volumeMounts[0].key: ...". */
int volume_item_fail(const struct volume_item *it, const char *key, const char *fmt, ...)
	printf_like(3, 4);
/* Checks the disks, v.devices; errors name `key`. */
int volume_item_devices(struct volume_item *it, const char *key) must_check;
/* Takes the mount point, and checks it. */
int volume_item_path(struct volume_item *it, const char *path) must_check;
/* Takes the options of mkfs and mount, for a file system that this host knows. Without mount options it takes
 * noatime. */
int volume_item_options(struct volume_item *it, const struct strv *format_options,
			const struct strv *mount_options) must_check;
/* If the mount point is a directory in which services keep files open, mounts the disk below /mnt instead, and binds
 * a folder of the disk to the mount point: the files must move first. */
void volume_item_bind(struct volume_item *it);
