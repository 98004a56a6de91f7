/* disk_format.h - makes the file system of a volume, on blank disks only
 * Locks the disks (flock, as udev and mkfs tools agree on) and judges them again. Records its intent, and judges the
 * disks a third time while the kernel lets no other program take them (O_EXCL). Runs mkfs or mdadm on the very
 * devices that are open here, checks the result, and records it. If the run is killed, the next call of this boot
 * goes on; the first call of a later boot goes on only from blank disks or a whole file system. A tool that failed
 * without a trace leaves no record. A disk that is as EC2 made it (ephemeral.h) is unmounted, held and judged once
 * more, and loses its superblock's magic number while it is held: from then on it counts as begun by us. Until mkfs
 * begins, all other bytes stay, so that a later boot can still prove the disk. One gap remains: mkfs and mdadm open
 * the disks with O_EXCL themselves, so we must let go first. For those milliseconds a program that ignores locks may
 * write, and mkfs.ext4, mkfs.xfs and mdadm do not check. mkfs.btrfs over several disks gets names; their device
 * numbers are compared just before.
 * Owner: the arena. Errors: those of judge_disks and mkfs_run; BUSY when another process holds the lock. Threads:
 * all functions. Source: systemd's "Locking Block Device Access".
 * Tests: test_mkfs.c. */
#pragma once

#include "nodeup/volumes/judge.h"

/* Formats the disks that may be formatted; leaves disks that are ours already. */
int disk_format(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		const struct disks *disks, struct err *e) must_check;
/* Records that a volume's disks have this UUID. */
int disk_format_record(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		       const struct disks *disks, const char *uuid, bool done,
		       struct err *e) must_check;
