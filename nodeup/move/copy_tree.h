/* copy_tree.h - copy a directory aside, prove the copy, put it in its place
 * The copy is made in a directory of nodeup's own, so that what a killed attempt left there can be
 * removed; its place is taken in one step, and only from nothing or an empty directory.
 * Owner: none. Errors: SYSTEM, with the tool's last line or the first thing that differs; BUSY while a
 * tool of a killed attempt is still at work there.
 * Threads: all functions. Source: cp(1), rename(2).
 * Tests: test_move.c. */
#pragma once

#include "nodeup/base/err.h"

/* Make `aside` a proven and durable copy of `source`, which is on its own file system. */
int copy_tree(int root_fd, const char *source, const char *aside, struct err *e) must_check;
/* Rename it to `target`, whose parents are made. */
int copy_tree_place(int root_fd, const char *aside, const char *target, struct err *e) must_check;
