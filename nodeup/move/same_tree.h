/* same_tree.h - tells whether one directory tree is a copy of another
 * A copy has the same names, types, owners, modes, sizes, times of files, link counts, link targets, device numbers,
 * extended attributes and bytes. This proves that the copying tool did its work.
 * Owner: the caller's fds. Errors: SYSTEM, naming the first difference. Threads: all functions.
 * Tests: test_same_tree.c. */
#pragma once

#include "nodeup/base/err.h"

/* Compares two open directories and all that is in them. The directories themselves must match too. */
int same_tree(int fd_a, int fd_b, struct err *e) must_check;
