/* file_lock.h - file locks of other programs: package managers, passwd tools
 * Most programs use record locks, whose process the kernel knows. A file whose name ends in ".pid" holds the pid
 * instead. Asking takes no lock.
 * Owner: the caller closes the fd of file_lock_take. Errors: SYSTEM. Threads: all functions.
 * Source: fcntl(2), lckpwdf(3), dpkg(1), apt(8).
 * Tests: test_packages.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"

enum { FILE_LOCK_NAME_MAX = 64 };

/* Returns whether another process locks this file below the root, and names it: "apt-get (pid 123)". */
bool file_lock_is_taken(int root_fd, const char *path, char holder[static FILE_LOCK_NAME_MAX]);
/* Locks a file below the root, until the fd is closed. Makes the file (0600) if it is missing. -EBUSY: another
 * process, named in holder, has the lock. */
int file_lock_take(int root_fd, const char *path, int *ret_fd,
		   char holder[static FILE_LOCK_NAME_MAX], struct err *e) must_check;
