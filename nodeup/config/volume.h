/* volume.h - a file system, or swap, on one disk or several, as the documents want it
 * Dialects fill it; the plan makes of each a volume task, mount units and bind mounts. Exactly one selector says
 * which disks are meant. No selector depends on the order of names: nvme1n1 is the disk that came first at this
 * boot.
 * Bodies: volumes_check.c.
 * Owner: the arena of the run. Errors: CONFIG with the place of the volume. Units: ns. Threads: const after the
 * dialect is done.
 * Source: kops VolumeMountSpec; kube-up's format-disks.sh.
 * Tests: test_field_secrets.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/str.h"
#include "nodeup/base/tree.h"

/* Describes a directory of the volume that is also mounted at another path; kube-up made symlinks for this. */
struct node_bind {
	const char *source; /* a path relative to the volume's: "docker" */
	const char *target; /* "/var/lib/docker" */
	/* units that use `target`: they stop while its content is moved, and then start again */
	struct strv units;
	struct tree_pos pos;
	bool aside; /* the documents mount the volume itself at one of its targets, so the volume goes elsewhere */
};

struct node_binds {
	struct node_bind *v;
	size_t n;
};

enum node_disks {
	NODE_DISKS_PATHS,          /* device paths; /dev/sdf and /dev/xvdf are one disk */
	NODE_DISKS_INSTANCE_STORE, /* all of the instance store, or its nth disk */
	NODE_DISKS_VOLUME_ID,      /* an EBS volume */
};

struct node_volume {
	const char *name;       /* unique and stable: the mount point, or "swap", "swap-2"... */
	const char *path;       /* mount point; NULL for swap */
	const char *filesystem; /* "ext4", "xfs", "btrfs", "swap" */

	enum node_disks disks;
	struct strv devices;   /* for PATHS */
	int64_t nth;           /* for INSTANCE_STORE: number of the disk, from 0; -1: all disks */
	const char *volume_id; /* for VOLUME_ID: "vol-0abc" */

	const char *raid;  /* "raid0", "raid1", "raid10"; NULL: one disk, or raid0 over several */
	const char *label; /* NULL: none */
	struct strv format_options, mount_options;
	bool persist; /* the disk outlives the instance, so it counts as blank only if head and tail are zeros */
	int64_t device_timeout_ns; /* how long a disk may take to appear */
	struct node_binds binds;
	struct tree_pos pos;
};

struct node_volumes {
	struct node_volume *v;
	size_t n;
};

/* Returns the units that keep files open below a directory; empty if there are none. */
struct strv volumes_users(struct arena *a, const char *path);
/* Returns the kernel's name of the device: "/dev/xvdf" for "/dev/sdf"; other names stay. */
const char *volumes_device(struct arena *a, const char *device);
/* Checks a mount point, or the target of a bind; `what` names the path in the message. */
int volumes_check_path(struct arena *a, const struct tree_pos *pos, const char *what,
		       const char *path, struct err *e) must_check;
/* Checks all volumes against each other. Each path is unique, an outer path comes before the paths in it, and no
 * disk is named twice. */
int volumes_check(struct arena *a, const struct node_volumes *v, struct err *e) must_check;
