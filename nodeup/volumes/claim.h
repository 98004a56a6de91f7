/* claim.h - finds the present use of a disk
 * Owner: the arena. Errors: none. Threads: all functions.
 * Source: proc(5) mountinfo, swaps; open(2) on O_EXCL of block devices.
 * Tests: test_disk.c. */
#pragma once

#include "nodeup/volumes/disk.h"

/* The words for a disk that is in use, but not by any user in the kernel's tables. */
#define CLAIM_UNNAMED "in use by the kernel: mounted elsewhere, or part of something"

/* Returns whether two paths are one device, whatever their names. */
bool claim_is_same_node(const struct disk_host *h, const char *x, const char *y);
/* Lists all places where the disk is mounted, as this process sees them. */
struct strv claim_mounts(const struct disk_host *h, struct arena *a, const struct disk *d);
/* Returns "mounted on /data", "swap space in use", "in use by md127"; NULL: no use in the kernel's tables. Only
 * reads the tables, so that a plan disturbs no other program. */
char *claim_of(const struct disk_host *h, struct arena *a, const struct disk *d);
/* Returns "mounted on /data" if the disk is mounted elsewhere than on `path`; else NULL. */
char *claim_elsewhere(const struct disk_host *h, struct arena *a, const struct disk *d,
		      const char *path);
/* Returns what claim_of returns, or "in use by the kernel" if no table names the user. Opens the disk with O_EXCL
 * for a moment, in which a mount or mkfs by another program fails. */
char *claim_now(const struct disk_host *h, struct arena *a, const struct disk *d);
