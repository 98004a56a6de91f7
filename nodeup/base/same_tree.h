/* same_tree.h - tells whether one directory tree is a copy of another
 * As a faithful copy it has the same names, types, owners, modes, sizes, times of files, link counts, targets
 * of links, numbers of devices, extended attributes and bytes: the proof that a tool copied what it was told
 * to. By content it has the same names, types, owners, modes, targets of links and bytes.
 * Owner: the caller's fds. Errors: SYSTEM, naming the first thing that differs. Threads: all functions. */
#pragma once

#include "nodeup/base/err.h"

enum same_tree { SAME_CONTENT, SAME_FAITHFUL };

/* Compare what is below two open directories; as a copy, the directories themselves too. */
int same_tree(int fd_a, int fd_b, enum same_tree as, struct err *e) must_check;
