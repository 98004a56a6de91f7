/* take.h - writes members of an archive to open descriptors, in a process that can open nothing
 * Of several files with one name it takes the shallowest, and of equally deep files the first by directory. No file
 * that is deeper than seven directories is taken. If a better file comes later, it takes over the descriptor.
 * Owner: the job. Errors: INTEGRITY, SYSTEM. Units: bytes. Threads: one.
 * Tests: test_extract_take.c. */
#pragma once

#include "assets/unpack/report.h"

struct take {
	const char *member; /* last part of the wanted member's name */
	uint64_t
		entry; /* not 0: takes the entry with this number instead of a name; fd may then be a pipe */
	uint64_t max;        /* limit on the member's bytes; 0: none */
	int fd;              /* descriptor for the bytes; -1: only reports the member */
	char *path;          /* path of the member that was found; NULL none */
	uint64_t from;       /* number of the entry that has the member's bytes */
	char hex[132];       /* sha256 of the bytes; "": another entry has the bytes */
	char *link, *target; /* link of the wanted name, if no file was found */
	int64_t behind;      /* end of the bytes whose writing to the disk has begun */
	bool on;             /* the bytes of the present entry go here */
};

struct takes {
	struct take *v;
	size_t n;
};

/* Parses the words that extract.c makes for its child. */
struct takes takes_parse(char *const *words);
/* Marks the takes that want this file. Returns NULL, or why the archive is refused. Pass the size 0 for a link. */
const char *takes_begin(struct takes *t, const char *path, uint64_t number, uint64_t size);
/* Writes the next bytes, or a hole's zeros, of the present file. Returns 0 or a negative errno. */
int takes_write(const struct takes *t, const void *p, size_t n, int64_t at, bool hole);
/* Ends the present file. Returns 0 or a negative errno. */
int takes_end(struct takes *t, const char *path, uint64_t from, uint64_t size, const char *hex);
/* Notes a symbolic link at the path. Returns NULL, or why the archive is refused. */
const char *takes_link(struct takes *t, const char *path, const char *target);
/* Returns whether any take wants the present file. */
bool takes_any(const struct takes *t);
/* Returns whether all takes ask for entry numbers and have these entries. The pass that gave the numbers has checked
 * the rest of the archive. */
bool takes_are_over(const struct takes *t);
/* Reports each take by one entry. Returns 0 or a negative errno. */
int takes_report(const struct takes *t, struct extract_report *report);
