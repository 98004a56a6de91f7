/* same_tree.h - is one directory tree a faithful copy of another?
 * Names, types, owners, modes, sizes, times of files, link counts, targets of links, numbers of
 * devices, extended attributes and every byte. It is the proof that a tool copied what it was told to.
 * Owner: the caller's fds. Errors: SYSTEM, naming the first thing that differs. Threads: all functions. */
#pragma once

#include "nodeup/base/err.h"

/* Compare what is below two open directories, and the directories themselves. */
int same_tree(int fd_a, int fd_b, struct err *e) must_check;
