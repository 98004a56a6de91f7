/* take.h - members of an archive into open descriptors, in a process that can open nothing
 * Of several files of one name the shallowest is meant; among those equally deep, the first by the path of its
 * directory; none more than seven directories deep. A better one that comes later takes the descriptor over.
 * Owner: the job. Errors: INTEGRITY, SYSTEM. Units: bytes. Threads: one.
 * Tests: test_extract_take.c. */
#pragma once

#include "assets/unpack/report.h"

struct take {
	const char *member; /* the last part of its name */
	uint64_t
		entry; /* != 0: that entry, by its number, in the place of a name; fd may be a pipe then */
	uint64_t max;        /* more bytes are refused; 0: any */
	int fd;              /* -1: it is told of alone */
	char *path;          /* the member that was found; NULL none */
	uint64_t from;       /* the number of the entry that has its bytes */
	char hex[132];       /* their sha256; "" they are another entry's */
	char *link, *target; /* a link of that name, where no file was found */
	int64_t behind;      /* up to which byte the writing to the disk has begun */
	bool on;             /* the entry under way is this one */
};

struct takes {
	struct take *v;
	size_t n;
};

/* Parse the words that extract.c makes for its child. */
struct takes takes_parse(char *const *words);
/* Mark those that this file is for; NULL, or why the archive is refused. `is_link`: it has no bytes of its own. */
const char *takes_begin(struct takes *t, const char *path, uint64_t number, uint64_t size);
/* Write the next bytes, or the zeros of a hole, of the file under way. 0 or a negative errno. */
int takes_write(const struct takes *t, const void *p, size_t n, int64_t at, bool hole);
/* The file is whole. 0 or a negative errno. */
int takes_end(struct takes *t, const char *path, uint64_t from, uint64_t size, const char *hex);
/* A symbolic link is at the path; NULL, or why the archive is refused. */
const char *takes_link(struct takes *t, const char *path, const char *target);
/* Returns whether any is under way. */
bool takes_any(const struct takes *t);
/* Returns whether all are asked for by their numbers, and were found: what is behind them was judged when these were told. */
bool takes_are_over(const struct takes *t);
/* Tell what was found, one entry for each. 0 or a negative errno. */
int takes_report(const struct takes *t, struct extract_report *report);
