/* disk_format.h - make the file system of a volume, on blank disks only
 * Locks the disks (flock, as udev and mkfs tools agree on), judges them once more under the lock,
 * records what is about to happen, judges them a third time while the kernel lets no other program take
 * them (O_EXCL), runs mkfs or mdadm on the very devices that are open here, looks at the result, records
 * that. Killed anywhere, the next call of this boot goes on; the first of a later boot goes on only
 * from blank disks or a whole file system. A tool that failed and left nothing leaves no record.
 * A disk that is as EC2 made it (ephemeral.h) is unmounted and held first, judged once more, and loses the number of its superblock
 * while it is held: from then on it is one that we began on. All else of it is as it was until mkfs begins, and proves it in a later boot.
 * What remains: mkfs and mdadm take the disks with O_EXCL themselves and fail while another descriptor
 * holds them, so that we must let go first: for those milliseconds a program that knows no lock may write, and
 * mkfs.ext4, mkfs.xfs and mdadm do not look for that. mkfs.btrfs over several disks is given names, whose
 * numbers are compared just before.
 * Owner: the arena. Errors: those of judge_disks and mkfs_run; BUSY when another process holds the lock.
 * Threads: all functions. Source: systemd's "Locking Block Device Access".
 * Tests: test_mkfs.c. */
#pragma once

#include "nodeup/volumes/judge.h"

/* Format what may be formatted; disks that are ours already are left as they are. */
int disk_format(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		const struct disks *disks, struct err *e) must_check;
/* Record that a volume's disks carry this UUID. */
int disk_format_record(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		       const struct disks *disks, const char *uuid, bool done,
		       struct err *e) must_check;
