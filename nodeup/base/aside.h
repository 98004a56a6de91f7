/* aside.h - what is damaged or in the way, kept beside its place for a person to look at
 * "NAME.nodeup-old", or, where that is there, with a number behind it: nothing is written over.
 * Owner: the arena. Errors: SYSTEM. Units: none. Threads: all functions. Source: link(2), renameat2(2).
 * Tests: test_special_files.py. */
#pragma once

#include "nodeup/base/io.h"

/* Give the file at path a second name, so that another one can take its place by rename. Gives that path; NULL: nothing
 * is there. */
int aside_link(struct arena *a, int root_fd, const char *path, const char **ret,
	       struct err *e) must_check;
/* Move whatever is at path. Gives its new path; NULL: nothing is there. A mount point stays: EBUSY. */
int aside_move(struct arena *a, int root_fd, const char *path, const char **ret,
	       struct err *e) must_check;
/* Returns whether these functions gave a file this name. */
bool aside_is(const char *name);
