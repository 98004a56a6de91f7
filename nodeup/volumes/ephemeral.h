/* ephemeral.h - a disk of the instance store as EC2 hands it out: a new ext3, which cloud-init mounts at /mnt
 * The oldest types of instance have no blank disk. Such a disk counts as blank if each of these is shown:
 * - IMDS or the NVMe model says that it is of the instance store, and on Xen the type of instance has such a disk;
 * - it is an ext3 or ext4 on which nothing was ever kept (extfs.h);
 * - no record of ours names it;
 * - it is not mounted, or cloud-init's line of fstab mounts the whole disk once, at /mnt, and no other line names
 * it;
 * - no process, swap, loop device, array or other mount uses it.
 * If one of these cannot be read or shown, the disk counts as data. A disk that is ours by its record is never
 * judged here: only cloud-init's line is taken back.
 * Owner: the arena. Errors: SYSTEM. Threads: all functions.
 * Source: EC2 user guide, "instance store"; kops' table of machine types, EphemeralDisks; cloud-init's cc_mounts;
 * kube-up's format-disks.sh.
 * Tests: test_volume_ephemeral.c. */
#pragma once

#include "nodeup/volumes/disk.h"
#include "nodeup/volumes/fstab.h"
#include "nodeup/volumes/disk_probe.h"

/* The place where cloud-init mounts the disk. */
#define EPHEMERAL_POINT "/mnt"

struct ephemeral {
	bool is_new; /* all conditions above are shown */
	bool is_cut; /* is_new, and a killed run of ours had begun on the disk */
	bool is_mounted; /* mounted by cloud-init at EPHEMERAL_POINT: must be unmounted and judged again */
	/* the first condition that is not proven, if the disk looks new; else NULL */
	const char *why;
};

/* Judges a disk and the signature on it; only reads. `but`: a volume whose record is ignored, as a run of ours began
 * it on this machine and did not finish; NULL: none. The content of this disk decides, even if the run of `but`
 * began on another disk. */
void ephemeral_look(const struct disk_host *h, struct arena *a, const struct disk *d,
		    const struct probe *p, const char *but, struct ephemeral *ret);
/* Unmounts the disk at EPHEMERAL_POINT, never lazily. -EBUSY: the disk is in use. */
int ephemeral_unmount(const struct disk_host *h, const struct disk *d, struct err *e) must_check;
/* Reads cloud-init's line about the disk; with the line the disk can be mounted there again. */
int ephemeral_line(const struct disk_host *h, struct arena *a, const struct disk *d,
		   struct fstab *ret, struct err *e) must_check;
int ephemeral_mount(const struct disk_host *h, struct arena *a, const struct disk *d,
		    const struct fstab *line, struct err *e) must_check;
/* Removes cloud-init's line about a disk that was proven to be new and is held. */
int ephemeral_forget(const struct disk_host *h, struct arena *a, const struct disk *d,
		     struct err *e) must_check;
/* Erases the superblock's magic number, so that nobody can mount the disk. A later run proves the rest again. */
int ephemeral_erase(int fd, const struct disk *d, struct err *e) must_check;

/* Returns whether cloud-init has a line for a disk of ours. */
bool ephemeral_has_line(const struct disk_host *h, struct arena *a, const struct disk *d,
			const char *uuid);
/* Returns whether the disk is mounted at EPHEMERAL_POINT, alone or in addition to its own place. */
bool ephemeral_is_at_point(const struct disk_host *h, struct arena *a, const struct disk *d,
			   const char *path);
/* Removes cloud-init's line, and the mount if nothing uses it; `path` is the disk's own mount point. */
int ephemeral_take_back(const struct disk_host *h, struct arena *a, const struct disk *d,
			const char *uuid, const char *path, struct err *e) must_check;
