/* report.h - what the unpacking child tells, in a file that both have open
 * It tells of each member, or of each file, then EXTRACT_END or EXTRACT_ERROR. A file, so that neither side waits for the
 * other, and in memory, so that a full disk can be reported. The reader trusts nothing: lengths are
 * bounded here, and the code that acts on what is told checks it.
 * Owner: the caller's fd. Errors: negative errno. Units: bytes. Threads: one.
 * Tests: test_extract.c. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include "assets/unpack/path.h"

enum extract_kind {
	EXTRACT_END = 1, /* all is well */
	/* path: the message; mode: enum err_kind; mtime: how many bytes more are wanted, and the errno */
	EXTRACT_ERROR,
	/* target: of a member, the sha256 of its bytes; mtime: which entry has them, or of a file that is given how
	 * many they are */
	EXTRACT_FILE,
	EXTRACT_LINK,     /* a member that is none, and where it leads */
	EXTRACT_NO_MEMBER /* nothing has that name */
};

/* All that is told: 200 000 names of 300 bytes. */
enum { EXTRACT_REPORT_MAX = 64 * 1024 * 1024 };

struct extract_entry {
	enum extract_kind kind;
	uint32_t mode;
	struct timespec mtime;
	const char *path, *target; /* "" none; a reader's, until the next entry */
};

struct extract_report {
	FILE *file;
	FILE *bytes_of_files; /* a writer's, where they are given as well; else NULL */
	uint64_t bytes;       /* written */
	char path[EXTRACT_NAME_MAX + 1], target[EXTRACT_NAME_MAX + 1];
};

/* A new, empty one to be given to a child. */
int extract_report_make(void);
/* Append an entry; -EFBIG when all of them together are too long. */
int extract_report_put(struct extract_report *r, const struct extract_entry *told);
/* The next entry: 1, 0 at the end, or -EBADMSG. */
int extract_report_next(struct extract_report *r, struct extract_entry *ret);
