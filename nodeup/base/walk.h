/* walk.h - the names in a directory, and all that is below one
 * A walk lists each directory as a whole before it visits the entries in the order of their names, so
 * that a visitor may remove what it visits. It never follows a symbolic link below its top, and it is
 * at most WALK_DEPTH_MAX deep, since each level takes a descriptor.
 * Owner: descriptors of a walk_at are the walk's. Errors: SYSTEM; ELOOP: too deep. Units: levels.
 * Threads: all functions. Source: getdents64(2).
 * Tests: test_walk.c. */
#pragma once

#include "nodeup/base/io.h"
#include "nodeup/base/str.h"

/* Twice what the extractor makes. */
enum { WALK_DEPTH_MAX = 256 };

/* The sorted names in an open directory but "." and "..", from the place that is read next: all of them in one
 * that was opened for this. Threads that share the descriptor share that place, so each needs one of its own.
 * -errno, and errno: the rest is unknown. */
int walk_names(struct arena *a, int dir_fd, struct strv *ret) must_check;

/* Returns those of a directory below the root that end so; none where it cannot be read. */
struct strv walk_list(struct arena *a, int root_fd, const char *path, const char *suffix);

/* All of a directory below the root. -ENOENT: it is not there. */
int walk_names_at(struct arena *a, int root_fd, const char *path, struct strv *ret,
		  struct err *e) must_check;

/* One entry. */
struct walk_at {
	int dir;  /* the directory that has it, open */
	int twin; /* the directory of the same path in the other tree; -1: one tree is walked */
	const char *
		path; /* of that directory below the top, with a slash before each name; "" is the top */
	const char *name; /* in dir */
	int fd; /* the entry itself, where it is a directory that the walk leaves; else -1 */
	struct stat st; /* of the entry, as lstat(2) gives it; of twin's entry nothing is known */
};

/* The calls that a walk makes at each entry. A negative result ends the walk and is its result. */
struct walk {
	/* 1 lets the walk go into a directory, 0 passes over it. */
	int (*enter)(void *arg, const struct walk_at *at, struct err *e);
	/* After all that is in a directory; NULL: nothing is to do. */
	int (*leave)(void *arg, const struct walk_at *at, struct err *e);
	void *arg;
	bool live; /* entries may go while the walk is under way, which is not an error then */
};

/* Visit all below an open directory, but not the directory itself. */
int walk_below(int fd, const struct walk *w, struct err *e) must_check;

/* Visit all below a directory and its copy; -EXDEV, with the name, where one has an entry that the other lacks. */
int walk_both(int fd, int twin, const struct walk *w, struct err *e) must_check;

/* Remove an entry of a directory with all below it; one that is not there is fine. -errno, and errno. */
int walk_remove(int dir_fd, const char *name);
