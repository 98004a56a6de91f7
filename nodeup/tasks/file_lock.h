/* file_lock.h - file locks that others hold: package managers, passwd tools
 * Most of them use record locks, so the kernel knows which process has one; a name in ".pid" is a file that says
 * so itself. Asking takes no lock.
 * Owner: the caller closes what file_lock_take gives. Errors: SYSTEM. Threads: all functions.
 * Source: fcntl(2), lckpwdf(3), dpkg(1), apt(8).
 * Tests: test_packages.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"

enum { FILE_LOCK_NAME_MAX = 64 };

/* Returns whether another process holds a lock on this file below the root, and which: "apt-get (pid 123)". */
bool file_lock_is_taken(int root_fd, const char *path, char holder[static FILE_LOCK_NAME_MAX]);
/* Lock a file below the root, made 0600 if it is not there; the lock lives as long as the fd. -EBUSY,
 * with holder filled, when another process has it. */
int file_lock_take(int root_fd, const char *path, int *ret_fd,
		   char holder[static FILE_LOCK_NAME_MAX], struct err *e) must_check;
