/* users.h - finds users of a directory's files: processes of every mount namespace, and the kernel
 * A file counts if a thread has it open, mapped, or as its program, working or root directory. The directory itself
 * counts if it is mounted elsewhere, or has a mount inside. Paths are compared as their file system has them, so a
 * process that sees the directory under another name, in a container, is found too. Sockets are ignored: they hold
 * no data.
 * Owner: the arena. Errors: SYSTEM: a process cannot be inspected, so that the answer is unknown. Threads: all
 * functions. Source: proc(5); the kernel's overlayfs.txt on lowerdir and upperdir.
 * Tests: test_users.c. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"

struct user {
	const char *pid; /* "812"; "": the kernel */
	const char
		*what; /* "containerd-shim (pid 812) has '/var/lib/docker/x' open"; NULL: no user */
};

/* Finds a user of a disk: a process that has the device open or mapped, or a loop device over it. If the disk is
 * mounted at `point` (NULL: nowhere), a user of that directory counts too. The mount at `point` does not count, nor
 * does a mount in another namespace that is unmounted with it. */
int users_of_disk(int root_fd, struct arena *a, const char *dev, const char *point,
		  struct user *ret, struct err *e) must_check;
/* Finds the first user, other than this process. `pid` NULL: any user; "": only the kernel; otherwise only that
 * process, to see whether it still uses the path. */
int users_of(int root_fd, struct arena *a, const char *path, const char *pid, struct user *ret,
	     struct err *e) must_check;
