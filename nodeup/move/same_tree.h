/* same_tree.h - tells whether one directory tree is a copy of another
 * A copy has the same names, types, owners, modes, sizes, times of files, link counts, targets of links,
 * numbers of devices, extended attributes and bytes: the proof that a tool copied what it was told to.
 * Owner: the caller's fds. Errors: SYSTEM, naming the first thing that differs. Threads: all functions.
 * Tests: test_same_tree.c. */
#pragma once

#include "nodeup/base/err.h"

/* Compare what is below two open directories; as a copy, the directories themselves too. */
int same_tree(int fd_a, int fd_b, struct err *e) must_check;
