/* mounts.h - the mounts that one process sees
 * Owner: the arena. Errors: SYSTEM: the table cannot be read. Threads: all functions.
 * Source: proc(5), mountinfo.
 * Tests: test_users.c. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/str.h"

struct mount {
	const char *id;      /* "36": unique among all namespaces */
	const char *peers;   /* "1": group of mounts that share events with this one; "": none */
	const char *master;  /* the group whose events this mount receives; "": none */
	const char *dev;     /* "259:3" */
	const char *root;    /* directory of the file system that is mounted: "/" */
	const char *point;   /* "/data" */
	const char *source;  /* "/dev/nvme1n1", as given to mount */
	const char *options; /* options of the file system: "rw,lowerdir=..." */
};

struct mounts {
	struct mount *v;
	size_t n;
};

/* Reads the table of a process: "self", or a number. -ENOENT: there is no such process. */
int mounts_read(int root_fd, struct arena *a, const char *process, struct mounts *ret,
		struct err *e) must_check;
/* A word of the kernel's tables: "/a\040b" is "/a b". */
char *mounts_unescape(struct arena *a, const char *word);
/* Lists files and devices in use as swap space; none without the kernel's table. */
struct strv mounts_swaps(int root_fd, struct arena *a);
/* Returns the topmost mount exactly at path; NULL: none. */
const struct mount *mounts_at(const struct mounts *m, const char *path);
/* Returns the mount that a path is on; NULL: not even "/" is in the table. */
const struct mount *mounts_under(const struct mounts *m, const char *path);
/* Returns a path as its file system has it, which does not depend on the mount point. */
char *mounts_inner(struct arena *a, const struct mount *m, const char *path);
