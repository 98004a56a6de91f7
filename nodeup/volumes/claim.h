/* claim.h - who uses a disk already
 * Owner: the arena. Errors: none. Threads: all functions.
 * Source: proc(5) mountinfo, swaps; open(2) on O_EXCL of block devices. */
#pragma once

#include "nodeup/volumes/disk.h"

/* "mounted on /data", "swap space in use", "in use by md127"; NULL: nobody, as far as the kernel's tables
 * tell. Takes nothing, so that a plan is in nobody's way. */
char *claim_of(const struct disk_host *h, struct arena *a, const struct disk *d);
/* "mounted on /data" if it is mounted, but not on `path`; else NULL. */
char *claim_elsewhere(const struct disk_host *h, struct arena *a, const struct disk *d,
		      const char *path);
/* As claim_of, and "in use by the kernel" where no table tells by whom: it is taken for a moment, in
 * which a mount or mkfs of somebody else fails. */
char *claim_now(const struct disk_host *h, struct arena *a, const struct disk *d);
/* Open it for reading as its one user: mount, mkfs, md and the like fail meanwhile. 0, or -EBUSY. */
int claim_open(const struct disk_host *h, const struct disk *d, int *ret_fd,
	       struct err *e) must_check;
