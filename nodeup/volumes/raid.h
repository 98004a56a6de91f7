/* raid.h - several disks as one, by md, for file systems that cannot span disks themselves
 * Striped only (raid0): mirrors are made by btrfs, which need not copy whole disks first. The array
 * has the UUID of the volume, so that its members are known for ours whatever the array is called.
 * Owner: the arena. Errors: CONFIG where mdadm is not installed; SYSTEM with its last line.
 * Threads: all functions. Source: mdadm(8), md(4).
 * Tests: test_volume_raid.c. */
#pragma once

#include "nodeup/volumes/disk.h"

/* libblkid's name for a member of an array. */
#define RAID_MEMBER "linux_raid_member"

/* The array that all of these and nothing else use; false if there is none. */
bool raid_array(const struct disk_host *h, struct arena *a, const struct disks *members,
		struct disk *ret);
/* Make an array of the devices at these paths; their content is lost. If we are killed, mdadm keeps the
 * lock. */
int raid_create(const struct strv *nodes, const char *uuid, int lock_fd, struct err *e) must_check;
/* Start an array whose members are here but not assembled. */
int raid_assemble(const struct strv *nodes, const char *uuid, int lock_fd,
		  struct err *e) must_check;
