/* mounts.h - what is mounted where, as one process sees it
 * Owner: the arena. Errors: SYSTEM: the table cannot be read. Threads: all functions.
 * Source: proc(5), mountinfo.
 * Tests: test_users.c. */
#pragma once

#include "nodeup/base/err.h"
#include "nodeup/base/str.h"

struct mount {
	const char *id;      /* "36": no other mount of any namespace has it */
	const char *peers;   /* "1": the group of mounts that go with it; "" without */
	const char *master;  /* the group that it goes with; "" without */
	const char *dev;     /* "259:3" */
	const char *root;    /* the directory of the file system that is seen: "/" */
	const char *point;   /* "/data" */
	const char *source;  /* "/dev/nvme1n1", as mount was told */
	const char *options; /* of the file system: "rw,lowerdir=..." */
};

struct mounts {
	struct mount *v;
	size_t n;
};

/* The table of a process: "self", or a number. -ENOENT: there is no such process. */
int mounts_read(int root_fd, struct arena *a, const char *process, struct mounts *ret,
		struct err *e) must_check;
/* A word of the kernel's tables: "/a\040b" is "/a b". */
char *mounts_unescape(struct arena *a, const char *word);
/* Files and devices that are swap space in use; none without the kernel's table. */
struct strv mounts_swaps(int root_fd, struct arena *a);
/* Returns what is mounted exactly there, on top; NULL: nothing. */
const struct mount *mounts_at(const struct mounts *m, const char *path);
/* Returns what a path lies on; NULL when not even "/" is in the table. */
const struct mount *mounts_under(const struct mounts *m, const char *path);
/* A path as its file system knows it, whatever it is mounted at. */
char *mounts_inner(struct arena *a, const struct mount *m, const char *path);
