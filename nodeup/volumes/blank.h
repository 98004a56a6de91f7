/* blank.h - proves that a disk is blank: holds only zeros where signatures are, or in samples all over
 * Reads the first and last 16 MiB, and 64 KiB at each place where XFS, ext4, btrfs or BlueStore keeps a copy of its
 * superblock; this folder's README has the list. For a persistent volume it also reads 64 KiB every 64 MiB, or in
 * 1024 places if it is larger than 64 GiB. A blank disk costs 60 MiB of reads at most, 140 MiB if it persists.
 * Owner: the caller. Errors: -errno of a read; -ENODATA: the device ended before its size. Units: bytes. Threads:
 * all functions. Source: see disk_probe.h.
 * Tests: test_disk_probe.c. */
#pragma once

#include "nodeup/volumes/disk.h"

/* Returns 0: only zeros; 1: something else, at *ret_at; negative: could not be read at *ret_at. */
int blank_check(const struct disk_host *h, int fd, uint64_t size, bool persist,
		uint64_t *ret_at) must_check;
/* Reads all n bytes at an offset by the host's pread. */
int blank_read(const struct disk_host *h, int fd, void *data, size_t n, uint64_t at) must_check;
