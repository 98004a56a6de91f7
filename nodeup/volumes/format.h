/* format.h - make the file system of a volume, on blank disks only
 * Locks the disks (flock, as udev and mkfs tools agree on), judges them once more under the lock,
 * records what is about to happen, runs mkfs, looks at the result, records that. Killed anywhere, the
 * next call goes on or says why it does not.
 * Owner: the arena. Errors: those of judge_disks and mkfs_run; BUSY when somebody holds the lock.
 * Threads: all functions. Source: systemd's "Locking Block Device Access". */
#pragma once

#include "nodeup/volumes/judge.h"

/* Format what may be formatted; disks that are ours already are left as they are. */
int format_disks(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		 const struct disks *disks, struct err *e) must_check;
/* Record that a volume's disks carry this UUID. */
int format_record(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		  const struct disks *disks, const char *uuid, bool done, struct err *e) must_check;
