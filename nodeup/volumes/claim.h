/* claim.h - what uses a disk already
 * Owner: the arena. Errors: none. Threads: all functions.
 * Source: proc(5) mountinfo, swaps; open(2) on O_EXCL of block devices.
 * Tests: test_disk.c. */
#pragma once

#include "nodeup/volumes/disk.h"

/* The words for a disk that no table names as used. */
#define CLAIM_UNNAMED "in use by the kernel: mounted elsewhere, or part of something"

/* Returns whether two paths are one device, whatever their names. */
bool claim_is_same_node(const struct disk_host *h, const char *x, const char *y);
/* Returns where it is mounted, all places that this process sees. */
struct strv claim_mounts(const struct disk_host *h, struct arena *a, const struct disk *d);
/* "mounted on /data", "swap space in use", "in use by md127"; NULL: nothing, as far as the kernel's
 * tables tell. Only reads the tables, so that a plan disturbs no other program. */
char *claim_of(const struct disk_host *h, struct arena *a, const struct disk *d);
/* "mounted on /data" if it is mounted, but not on `path`; else NULL. */
char *claim_elsewhere(const struct disk_host *h, struct arena *a, const struct disk *d,
		      const char *path);
/* As claim_of, and "in use by the kernel" where no table names the user. To find out, the disk is opened
 * with O_EXCL for a moment, in which a mount or mkfs by another program fails. */
char *claim_now(const struct disk_host *h, struct arena *a, const struct disk *d);
