/* extfs.h - tells whether an ext3 or ext4 is as mkfs left it, so that nothing was ever kept on it
 * A file system is new if the device, never a mount, shows each of these:
 * - the superblock has only features that are known here, no label, no error and nothing to replay;
 * - the file system fills the device;
 * - the root has only lost+found, which is empty;
 * - only mkfs' own inodes are in use;
 * - only the blocks of tables, journal and the two directories are in use, by the bitmaps, the descriptors of groups
 * and the superblock. libext2fs reads more kinds, but opens a device by its name instead of the descriptor that is
 * held open here. libext2fs would also save little, as it does not know which counts mkfs writes.
 * Owner: constants. Errors: -errno of a read, -ENODATA: the device ended before its size. Units: bytes.
 * Threads: all functions. Source: the kernel's Documentation/filesystems/ext4; mke2fs of e2fsprogs, initialize.c.
 * Tests: test_extfs.c. */
#pragma once

#include "nodeup/volumes/disk.h"

/* The place of the superblock's magic number. Without the number nobody mounts the file system; all other bytes
 * stay. */
enum { EXTFS_MAGIC_AT = 1024 + 0x38, EXTFS_MAGIC_SIZE = 2 };

enum extfs_as {
	EXTFS_UNMOUNTED,
	/* mounted: the kernel keeps the superblock's counts and the journal in memory. Counts and journal are not
	 * checked, so the answer is no proof */
	EXTFS_MOUNTED,
	EXTFS_CUT, /* unmounted, and without the magic number, which we erased */
};

/* Returns 0 if the file system is as mkfs left it; 1, with the reason in *ret_why, if it is not, or if that cannot
 * be told. */
int extfs_new(const struct disk_host *h, int fd, uint64_t size, enum extfs_as as,
	      const char **ret_why) must_check;
