/* disk_probe.h - tells whether a disk holds data, holds nothing, or cannot be read
 * DATA is any signature that libblkid knows (even with a bad checksum), and any byte other than zero where
 * signatures are. BLANK is proven by reading: the first and last 16 MiB, and the copies of superblocks further in,
 * are zeros; blank.h reads more of a persistent volume. Anything else is UNREADABLE: a read error, a device shorter
 * than its size says. Probing never writes.
 * Owner: the arena. Errors: none, they are a state. Units: bytes. Threads: all functions. Source: libblkid;
 * superblock offsets of ext4, btrfs, md, LVM, ZFS, GPT, DRBD.
 * Tests: test_disk_probe.c. */
#pragma once

#include "nodeup/volumes/disk.h"

enum probe_state { PROBE_UNREADABLE, PROBE_DATA, PROBE_BLANK };

struct probe {
	enum probe_state state;
	const char *
		has; /* words for people: "ext4 file system", "unknown data at byte 1024", "read error..." */
	const char *fs;           /* TYPE of libblkid; NULL: no known signature */
	const char *uuid, *label; /* "" if missing */
	bool unknown;             /* DATA without any signature */
	bool bad_checksum;        /* the superblock's checksum is wrong */
	bool incomplete;          /* a file system whose making was interrupted */
};

/* Probes an open device of that size. persist: reads more of the device, all of which must be zeros. */
void disk_probe_fd(const struct disk_host *h, struct arena *a, int fd, uint64_t size, bool persist,
		   struct probe *ret);
/* Looks only for a signature that libblkid knows, and does not tell whether the disk is blank. */
bool disk_probe_signature(const struct disk_host *h, struct arena *a, const struct disk *d,
			  struct probe *ret);
/* Opens a disk for reading and probes it; a disk that cannot be opened is UNREADABLE. */
void disk_probe(const struct disk_host *h, struct arena *a, const struct disk *d, bool persist,
		struct probe *ret);
