/* aside.h - keeps damaged or obstructing files beside their place, for a person to look at
 * The name is "NAME.nodeup-old"; if that exists, a number follows. Nothing is overwritten.
 * Owner: the arena. Errors: SYSTEM. Units: none. Threads: all functions. Source: link(2), renameat2(2).
 * Tests: test_special_files.py. */
#pragma once

#include "nodeup/base/io.h"

/* Gives the file at path a second name, so that a new file can replace it by rename. *ret is the second name; NULL:
 * there is no file. */
int aside_link(struct arena *a, int root_fd, const char *path, const char **ret,
	       struct err *e) must_check;
/* Moves an object of any kind away from path. *ret is its new path; NULL: there is no object. A mount point is not
 * moved: EBUSY. */
int aside_move(struct arena *a, int root_fd, const char *path, const char **ret,
	       struct err *e) must_check;
/* Returns whether this name looks like those that aside_link and aside_move give. */
bool aside_is(const char *name);
