/* walk.h - the names in a directory, and walks over everything below a directory
 * A walk lists each directory as a whole before it visits the entries in the order of their names, so a visitor may
 * remove the entry. A walk never follows a symbolic link below its top. A walk goes at most WALK_DEPTH_MAX deep,
 * since each level takes a descriptor.
 * Owner: descriptors of a walk_at are the walk's. Errors: SYSTEM; ELOOP: too deep. Units: levels.
 * Threads: all functions. Source: getdents64(2).
 * Tests: test_walk.c. */
#pragma once

#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

/* Twice the depth of the trees that the extractor makes. */
enum { WALK_DEPTH_MAX = 256 };

/* Lists the names in an open directory except "." and "..", sorted, from its offset on: all names if it was just
 * opened. Threads that share a descriptor share its offset, so each thread needs a descriptor of its own. On failure
 * returns -errno and sets errno; the rest of the names is unknown. */
int walk_names(struct arena *a, int dir_fd, struct strv *ret) must_check;

/* Returns the names with the given ending in a directory below the root; no names if the directory cannot be read. */
struct strv walk_list(struct arena *a, int root_fd, const char *path, const char *suffix);

/* Lists all names of a directory below the root. -ENOENT: the directory does not exist. */
int walk_names_at(struct arena *a, int root_fd, const char *path, struct strv *ret,
		  struct err *e) must_check;

/* An entry that the walk visits. */
struct walk_at {
	int dir;  /* the entry's directory, open */
	int twin; /* the same directory in the other tree; -1: there is only one tree */
	const char *
		path; /* path of the directory below the top, with a slash before each name; "" is the top */
	const char *name; /* name in dir */
	int fd; /* the entry itself, if it is a directory and everything below it was visited; otherwise -1 */
	struct stat st; /* lstat(2) of the entry, not of its twin */
};

/* The functions that a walk calls for each entry. A negative result ends the walk and is its result. */
struct walk {
	/* Returns 1 to walk into a directory, 0 to skip it. */
	int (*enter)(void *arg, const struct walk_at *at, struct err *e);
	/* Called after everything in a directory; may be NULL. */
	int (*leave)(void *arg, const struct walk_at *at, struct err *e);
	void *arg;
	bool live; /* entries may vanish during the walk, which is then no error */
};

/* Visits everything below an open directory, but not the directory itself. */
int walk_below(int fd, const struct walk *w, struct err *e) must_check;

/* Visits everything below a directory and its copy. -EXDEV, with the name: only one of them has an entry. */
int walk_both(int fd, int twin, const struct walk *w, struct err *e) must_check;

/* Removes an entry of a directory, with everything below it. A missing entry is fine. On failure returns -errno, and
 * sets errno. */
int walk_remove(int dir_fd, const char *name);
