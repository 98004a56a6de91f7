/* discover.h - finds the disks that a volume names
 * Finds them by volume id, by EC2's names, as instance store or by path, but never by the order in which the kernel
 * found them. If a disk is not here, perhaps not yet, the error is -ENODEV, so that the caller can wait.
 * Owner: the arena. Errors: SYSTEM with ENODEV: absent; CONFIG: no disk can ever fit; REFUSED: two fit. Threads: all
 * functions. Source: EC2 user guide, "Device names", "block-device-mapping".
 * Tests: test_disk_copies.c, test_disk_probe.c. */
#pragma once

#include "nodeup/volumes/disk.h"

enum disk_by { DISK_BY_PATHS, DISK_BY_STORE, DISK_BY_VOLUME_ID };

struct disk_want {
	enum disk_by by;
	struct strv paths; /* BY_PATHS: the paths of all disks */
	int64_t nth; /* BY_STORE: the number of one disk, from 0, in the order of ephemeralN, then of serials; -1:
		      * all disks */
	const char *volume_id; /* BY_VOLUME_ID */
	/* BY_VOLUME_ID: EC2's device name of the volume, for disks that tell no id (Xen); or NULL */
	const char *attached_as;
};

/* Finds the wanted disks, at least one. *ret_missing names disks of the instance store that are still to come
 * ("sdc"), since IMDS promises them or their controllers exist; else NULL. It does so even if none is here. */
int disk_find(const struct disk_host *h, struct arena *a, const struct disk_want *want,
	      struct disks *ret, const char **ret_missing, struct err *e) must_check;
/* Fails with -ENODEV until each disk has a node. The kernel makes the node after it names the disk in /sys, and only
 * then can the disk be opened. */
int disk_have_nodes(const struct disk_host *h, const struct disks *found, struct err *e) must_check;
