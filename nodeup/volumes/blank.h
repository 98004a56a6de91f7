/* blank.h - are there only zeros where signatures live?
 * Owner: the caller. Errors: -errno of a read; -ENODATA: the device ended before its size.
 * Units: bytes. Threads: all functions. Source: see probe.h. */
#pragma once

#include "nodeup/volumes/disk.h"

/* 0: only zeros; 1: something else, *ret_at says where; negative: could not be read at *ret_at. */
int blank_check(const struct disk_host *h, int fd, uint64_t size, bool persist,
		uint64_t *ret_at) must_check;
/* Read all n bytes at an offset by the host's pread. */
int blank_read(const struct disk_host *h, int fd, void *data, size_t n, uint64_t at) must_check;
