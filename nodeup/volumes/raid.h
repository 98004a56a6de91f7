/* raid.h - joins several disks by md, for file systems that cannot span disks themselves
 * Makes striped arrays (raid0) only: mirrors are left to btrfs, which need not copy whole disks first. The array has
 * the volume's UUID, so its members are known as ours under any name of the array.
 * Owner: the arena. Errors: CONFIG where mdadm is not installed; SYSTEM with its last line. Threads: all functions.
 * Source: mdadm(8), md(4).
 * Tests: test_volume_raid.c. */
#pragma once

#include "nodeup/volumes/disk.h"

/* libblkid's name for a member of an array. */
#define RAID_MEMBER "linux_raid_member"

/* Finds the array that is the only user of each of these disks; it may have other members as well. false: there is
 * no such array. */
bool raid_array(const struct disk_host *h, struct arena *a, const struct disks *members,
		struct disk *ret);
/* Makes an array of the devices at these paths, whose content is lost. mdadm keeps the lock if we are killed. */
int raid_create(const struct strv *nodes, const char *uuid, int lock_fd, struct err *e) must_check;
/* Starts an array whose members are here but not assembled. */
int raid_assemble(const struct strv *nodes, const char *uuid, int lock_fd,
		  struct err *e) must_check;
