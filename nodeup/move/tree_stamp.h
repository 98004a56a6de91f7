/* tree_stamp.h - tells whether a directory was written to since: the number of its files, of their
 * bytes, and the newest change of any
 * Owner: none. Errors: SYSTEM. Units: bytes, ns. Threads: all functions.
 * Tests: test_step_back.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"

struct tree_stamp {
	uint64_t files, bytes;
	int64_t newest_ns; /* ctime: a copy may keep every other time */
	/* the least that a copy takes of a disk; no part of the stamp */
	uint64_t disk_bytes, inodes;
};

/* Look at all regular files and links of a directory below the root, on its own file system. A file that goes while
 * it is looked at is not counted. */
int tree_stamp_at(int root_fd, const char *path, struct tree_stamp *ret, struct err *e) must_check;
bool tree_stamp_eq(const struct tree_stamp *a, const struct tree_stamp *b);
/* "files 12 bytes 345 newest 1700000000000000000" */
char *tree_stamp_text(struct arena *a, const struct tree_stamp *s);
