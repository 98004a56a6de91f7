/* report.h - the unpacking child's report, a file that both sides have open
 * The report has an entry for each member or file, then EXTRACT_END or EXTRACT_ERROR. Because it is a file, neither
 * side waits for the other; because it is in memory, it can report a full disk. The reader trusts nothing: lengths
 * are bounded here, and the code that uses an entry checks it.
 * Owner: the caller's fd. Errors: negative errno. Units: bytes. Threads: one.
 * Tests: test_extract.c. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include "assets/unpack/path.h"

enum extract_kind {
	EXTRACT_END = 1, /* the archive is right */
	/* path has the message, mode the enum err_kind, mtime.tv_sec the bytes of room still wanted, mtime.tv_nsec
	 * the errno */
	EXTRACT_ERROR,
	/* target has a member's sha256, mtime the number of the entry with the member's bytes. For a given file,
	 * mtime is the number of its bytes */
	EXTRACT_FILE,
	EXTRACT_LINK,     /* a wanted member that is a link, and its target */
	EXTRACT_NO_MEMBER /* no entry has the wanted name */
};

/* Limit of a report: 200 000 names of 300 bytes. */
enum { EXTRACT_REPORT_MAX = 64 * 1024 * 1024 };

struct extract_entry {
	enum extract_kind kind;
	uint32_t mode;
	struct timespec mtime;
	const char *path, *target; /* "" none; valid until the next entry is read */
};

struct extract_report {
	FILE *file;
	FILE *bytes_of_files; /* a writer's file for the bytes of all files; a reader has NULL */
	uint64_t bytes;       /* bytes written */
	char path[EXTRACT_NAME_MAX + 1], target[EXTRACT_NAME_MAX + 1];
};

/* Makes an empty report to give to a child. */
int extract_report_make(void);
/* Appends an entry; -EFBIG if the report gets too long. */
int extract_report_put(struct extract_report *r, const struct extract_entry *told);
/* Reads the next entry: 1, 0 at the end, or -EBADMSG. */
int extract_report_next(struct extract_report *r, struct extract_entry *ret);
