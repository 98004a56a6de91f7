/* disk_probe.h - what is on a disk: data, nothing, or unreadable
 * DATA is any signature that libblkid knows (a bad checksum does not excuse it), and any byte other
 * than zero where signatures live. BLANK is proven by reading: the first and last 16 MiB, and the
 * copies of superblocks further in, are zeros; blank.h says what more for what outlives the instance.
 * UNREADABLE is everything else: a read error, a device shorter than it says. Probing never writes.
 * Owner: the arena. Errors: none, they are a state. Units: bytes. Threads: all functions.
 * Source: libblkid; superblock offsets of ext4, btrfs, md, LVM, ZFS, GPT, DRBD.
 * Tests: test_disk_probe.c. */
#pragma once

#include "nodeup/volumes/disk.h"

enum probe_state { PROBE_UNREADABLE, PROBE_DATA, PROBE_BLANK };

struct probe {
	enum probe_state state;
	const char *
		has; /* for people: "ext4 file system", "unknown data at byte 1024", "read error..." */
	const char *fs;           /* TYPE of libblkid, NULL: no signature that it knows */
	const char *uuid, *label; /* "" without */
	bool unknown;             /* DATA without any signature */
	bool bad_checksum;        /* of its superblock */
	bool incomplete;          /* a file system whose making did not come to its end */
};

/* Look at an open device of that size; `persist`: more must be zeros. */
void disk_probe_fd(const struct disk_host *h, struct arena *a, int fd, uint64_t size, bool persist,
		   struct probe *ret);
/* Only whether it has a signature, and which: for disks that are not ours to judge. */
bool disk_probe_signature(const struct disk_host *h, struct arena *a, const struct disk *d,
			  struct probe *ret);
/* Open a disk for reading and look at it; one that cannot be opened is UNREADABLE. */
void disk_probe(const struct disk_host *h, struct arena *a, const struct disk *d, bool persist,
		struct probe *ret);
