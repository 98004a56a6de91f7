/* volume_item.h - an item of a list of volumes, on its way from the documents into the model
 * What documents of any dialect say of a disk in the same way: device paths, options, and which services use the
 * mount point. A dialect fills in v step by step.
 * Invariant: pure. Owner: the arena. Errors: CONFIG with the place of the key. Threads: one.
 * Source: kops pkg/apis/kops VolumeMountSpec; mount(8).
 * Tests: test_field_secrets.c. */
#pragma once

#include "nodeup/config/dialect.h"

struct volume_item {
	struct arena *arena;
	const struct tree *tree; /* the item as it stands */
	const char *path;        /* "volumeMounts[0]" */
	bool is_extended;        /* its keys are also ours: volumeID, binds, deviceTimeout */
	const struct facts *facts;
	const struct dialect_opts *opts;
	struct node_volume v;
	struct err *err;
};

/* The error "f:2:1: volumeMounts[0].key: ...". */
int volume_item_fail(const struct volume_item *it, const char *key, const char *fmt, ...)
	printf_like(3, 4);
/* The disks are v.devices, which `key` says: check them. */
int volume_item_devices(struct volume_item *it, const char *key) must_check;
/* It is mounted at this path: take it, and check it. */
int volume_item_path(struct volume_item *it, const char *path) must_check;
/* Take the options of mkfs and mount, for a file system that this host knows. No option of mount means noatime. */
int volume_item_options(struct volume_item *it, const struct strv *format_options,
			const struct strv *mount_options) must_check;
/* A service with open files at the mount point sees the disk through a bind of a folder, so that its files can move first. */
void volume_item_bind(struct volume_item *it);
