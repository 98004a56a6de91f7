/* ephemeral.h - a disk of the instance store as EC2 hands it out: a new ext3, which cloud-init mounts at /mnt
 * The oldest types of instance have no blank one. Such a disk counts as blank if all of this is shown: IMDS or the
 * NVMe model says that it is of the instance store, and on Xen the type of instance has such a disk; it is an ext3 or ext4 that nothing was ever kept on (extfs.h);
 * no record of ours speaks of it; it is not mounted, or once and whole, at /mnt, by cloud-init's line of fstab, and
 * no other line is about it; and no process, swap, loop device, array or other mount uses it. What cannot be read
 * or shown is data. A disk that is ours by its record is never judged here: of cloud-init only the line is taken back.
 * Owner: the arena. Errors: SYSTEM. Threads: all functions.
 * Source: EC2 user guide, "instance store"; kops' table of machine types, EphemeralDisks; cloud-init's cc_mounts; kube-up's format-disks.sh.
 * Tests: test_volume_ephemeral.c. */
#pragma once

#include "nodeup/volumes/disk.h"
#include "nodeup/volumes/fstab.h"
#include "nodeup/volumes/disk_probe.h"

/* The place where cloud-init mounts it. */
#define EPHEMERAL_POINT "/mnt"

struct ephemeral {
	bool is_new;     /* all is shown */
	bool is_cut;     /* and a run of ours that was killed had begun on it */
	bool is_mounted; /* at EPHEMERAL_POINT, by cloud-init: it is to be looked at again without */
	const char *
		why; /* it looks like such a disk, and this is not shown; NULL: it does not look like one */
};

/* Look at a disk and what was found on it, for reading only. `but`: the volume that a run of ours began and did not end on this
 * machine, whose record is left out; NULL: none. On whatever disk it began, this one is proven by what is on it. */
void ephemeral_look(const struct disk_host *h, struct arena *a, const struct disk *d,
		    const struct probe *p, const char *but, struct ephemeral *ret);
/* Unmount it at EPHEMERAL_POINT, never lazily; -EBUSY while anything uses it. */
int ephemeral_unmount(const struct disk_host *h, const struct disk *d, struct err *e) must_check;
/* Cloud-init's line about it, to mount it there again as that line says when nothing came of it after all. */
int ephemeral_line(const struct disk_host *h, struct arena *a, const struct disk *d,
		   struct fstab *ret, struct err *e) must_check;
int ephemeral_mount(const struct disk_host *h, struct arena *a, const struct disk *d,
		    const struct fstab *line, struct err *e) must_check;
/* Remove cloud-init's line about one that was proven to be new and is held. */
int ephemeral_forget(const struct disk_host *h, struct arena *a, const struct disk *d,
		     struct err *e) must_check;
/* And then the number of the superblock, without which nobody can mount it; a later run proves the rest anew. */
int ephemeral_erase(int fd, const struct disk *d, struct err *e) must_check;

/* Returns whether cloud-init has a line for a disk of ours. */
bool ephemeral_has_line(const struct disk_host *h, struct arena *a, const struct disk *d,
			const char *uuid);
/* Returns whether it is mounted at EPHEMERAL_POINT as well as at its own place, or there alone. */
bool ephemeral_is_at_point(const struct disk_host *h, struct arena *a, const struct disk *d,
			   const char *path);
/* Remove the line, and the mount where nothing uses it; `path` is the disk's own place. */
int ephemeral_take_back(const struct disk_host *h, struct arena *a, const struct disk *d,
			const char *uuid, const char *path, struct err *e) must_check;
