/* extract.h - a tar archive into a directory, confined
 * Refused with the entry's name and the reason: absolute names, "..", links that leave the tree,
 * device nodes, fifos, sockets, setuid and setgid, names over 4096 bytes, entries that replace a
 * directory, a ".." in a link target behind a name, and anything beyond the limits. Owners become
 * root, modes and mtimes are kept.
 * Nothing is left behind on failure but what is inside dir_fd, which the caller removes.
 * Owner: the caller's fds. Errors: INTEGRITY for evil or broken archives, SYSTEM.
 * Threads: all functions. Source: libarchive; only tar with gzip, xz, zstd or nothing. */
#pragma once

#include <stdint.h>
#include "nodeup/base/err.h"

struct extract_limits {
	uint64_t entries, bytes; /* unpacked totals */
};

/* Unpack fd (from its start) below dir_fd, an empty directory. `name` is for messages. */
int extract_tar(int fd, const char *name, int dir_fd, const struct extract_limits *limits,
		struct err *e) must_check;
