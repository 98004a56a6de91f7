/* discover.h - which disks are meant
 * By volume id, by the names EC2 knows a disk by, as instance store, by path; never by the order in
 * which the kernel found them. What is not here (yet) is -ENODEV, so that the caller can wait.
 * Owner: the arena. Errors: SYSTEM with ENODEV: absent; CONFIG: no disk can ever be meant; REFUSED:
 * two are. Threads: all functions. Source: EC2 user guide, "Device names", "block-device-mapping".
 * Tests: test_disk_copies.c, test_disk_probe.c. */
#pragma once

#include "nodeup/volumes/disk.h"

enum disk_by { DISK_BY_PATHS, DISK_BY_STORE, DISK_BY_VOLUME_ID };

struct disk_want {
	enum disk_by by;
	struct strv paths; /* BY_PATHS: all of them */
	int64_t nth; /* BY_STORE: from 0 in the order of ephemeralN, then of serials; -1 all */
	const char *volume_id; /* BY_VOLUME_ID */
	/* BY_VOLUME_ID: the name EC2 attached it by, for disks that do not tell an id (Xen); or NULL */
	const char *attached_as;
};

/* The disks meant, at least one. With disks of the instance store that are to come, as IMDS promises
 * them or their controllers are here already, *ret_missing names them ("sdc") and is NULL otherwise. */
int disk_find(const struct disk_host *h, struct arena *a, const struct disk_want *want,
	      struct disks *ret, const char **ret_missing, struct err *e) must_check;
/* The kernel names a disk in /sys before it makes the disk's node. -ENODEV until each of them has one: then it can be
 * looked at, and not before. */
int disk_have_nodes(const struct disk_host *h, const struct disks *found, struct err *e) must_check;
