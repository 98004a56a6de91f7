/* users.h - what uses the files of a directory: processes of every mount namespace, and the kernel
 * A file counts when a thread of a process has it open, mapped, as its program, working or root directory; so does
 * the directory when it is mounted elsewhere, or has something mounted in it. Paths are compared as
 * their file system knows them, so that a container that sees the directory under another name is
 * found as well. Sockets are not looked for: what they are bound to holds no data.
 * Owner: the arena. Errors: SYSTEM: a process cannot be inspected, so that the answer is unknown.
 * Threads: all functions. Source: proc(5); the kernel's overlayfs.txt on lowerdir and upperdir.
 * Tests: test_users.c. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/mem.h"

struct user {
	const char *pid; /* "812"; "": the kernel */
	const char
		*what; /* "containerd-shim (pid 812) has '/var/lib/docker/x' open"; NULL: nothing */
};

/* Find what uses a disk: a process that has the device open or mapped, a loop device over it, and where the disk is mounted at `point` (NULL:
 * nowhere) what users_of would find there. That mount itself is none, nor is one of another namespace that goes when it goes. */
int users_of_disk(int root_fd, struct arena *a, const char *dev, const char *point,
		  struct user *ret, struct err *e) must_check;
/* The first that is found, this process itself left out. pid: NULL any, "" the kernel, else that process alone: whether one
 * that was found before still uses the path. */
int users_of(int root_fd, struct arena *a, const char *path, const char *pid, struct user *ret,
	     struct err *e) must_check;
