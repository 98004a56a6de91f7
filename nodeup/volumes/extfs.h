/* extfs.h - is an ext3 or ext4 as mkfs left it: was anything ever kept on it
 * New is what all of this shows, from the device and never from a mount: the superblock has only features that are
 * known here, no label, no error and nothing to replay; the file system fills the device; the root has lost+found alone,
 * which is empty; of the inodes those of mkfs are in use; and the blocks in use are those of the tables, the journal
 * and the two directories, counted in the bitmaps, in the descriptors of the groups and in the superblock.
 * libext2fs reads more kinds. It is not used: it opens a device by its name, and not the one that is held open here,
 * and what it would spare is the smaller part: that the counts are those of mkfs is ours to say.
 * Owner: constants. Errors: -errno of a read, -ENODATA: the device ended before its size. Units: bytes.
 * Threads: all functions. Source: the kernel's Documentation/filesystems/ext4; mke2fs of e2fsprogs, initialize.c.
 * Tests: test_extfs.c. */
#pragma once

#include "nodeup/volumes/disk.h"

/* The place of the number that a superblock is known by: without it nobody mounts it, and all else is as it was. */
enum { EXTFS_MAGIC_AT = 1024 + 0x38, EXTFS_MAGIC_SIZE = 2 };

enum extfs_as {
	EXTFS_UNMOUNTED,
	/* the kernel keeps the superblock's counts and the journal to itself: these two are not looked at, and this answer is no proof */
	EXTFS_MOUNTED,
	EXTFS_CUT, /* unmounted, and without that number, which we took */
};

/* 0: new; 1: not, or not known to be, and *ret_why says why. */
int extfs_new(const struct disk_host *h, int fd, uint64_t size, enum extfs_as as,
	      const char **ret_why) must_check;
