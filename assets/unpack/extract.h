/* extract.h - members of a tar archive, by a child that can do nothing else
 * The child (/proc/self/exe, see child.h) has no capabilities and sees no directory; it writes into the descriptors that it
 * was given, and reports what it found.
 * Refused with the entry's name and the reason: absolute names, "..", links that leave the tree,
 * device nodes, fifos, sockets, setuid and setgid, names over 4095 bytes, entries that replace a
 * directory, a ".." in a link target behind a name, bombs (sparse ones, too), what takes more than 32 MiB
 * of memory to unpack, and anything beyond the limits.
 * Owner: the caller's fds. Errors: INTEGRITY for evil or broken archives, SYSTEM, also for a child that
 * died, or that did nothing for a minute while it was waited for (watch.h). Threads: all functions; one user for each extract. Source: tar with gzip, xz, zstd or nothing.
 * Tests: test_extract.c, test_extract_read.c, test_extract_take.c, test_extract_watch.c. */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include "assets/digest.h"
#include "nodeup/base/str.h"

struct extract_limits {
	uint64_t entries, bytes; /* unpacked totals */
	struct takes *takes;     /* the child's: see take.h */
};

struct extract;

/* The next bytes of an archive: `p`. They lie in the file `fd` at `at` as well, unless it is -1, and will not
 * change there: then the file's own pages are given, not a copy. */
struct extract_piece {
	const void *p;
	size_t n;
	int fd;
	off_t at;
};

/* Give the child the next bytes, and wait while it is busy. An error is the child's own where it
 * has one. */
int extract_feed(struct extract *x, const struct extract_piece *piece, struct err *e) must_check;
/* No more bytes: wait for it and hear what it found. Frees x in every case. */
int extract_finish(struct extract *x, struct err *e) must_check;
/* Kill and reap it; NULL is fine. */
void extract_abort(struct extract *x);
/* A file of an archive, by its name there; its text has a NUL beyond. */
struct extract_file {
	const char *path;
	const char *text;
	size_t n;
};

struct extract_files {
	struct extract_file *v;
	size_t n;
};

struct extract_bytes {
	const void *text;
	size_t n;
};

/* The files of an archive. Links are left out. */
int extract_read(struct arena *a, const char *name, const struct extract_bytes *archive,
		 const struct extract_limits *limits, struct extract_files *ret,
		 struct err *e) must_check;

/* A member that is wanted, by the last part of its name, and what was found. */
struct extract_take {
	const char *member;
	int fd;       /* its bytes go there: an empty file; -1 nowhere */
	uint64_t max; /* more are refused; 0: any */
	uint64_t
		entry; /* != 0: that entry, as `from` of a whole pass told, in the place of a name; fd may be a pipe */
	const char *path;          /* the arena's; NULL nothing */
	uint64_t from;             /* the number of the entry that has its bytes */
	struct digest digest;      /* sha256 */
	const char *link, *target; /* a link of that name, if there is no file; else NULL */
};

enum { EXTRACT_TAKES_MAX = 48 };

/* Take members of the archive that is open as fd, and check all of it. If several files have one name, the
 * shallowest is meant, and the first by its directory. The child has nothing but the descriptors. More members than
 * EXTRACT_TAKES_MAX take further passes, and so do hard links; without any the archive is only checked. A pass for
 * entries alone ends with the last. After an error the files hold anything. */
int extract_take(struct arena *a, int fd, const char *name, const struct extract_limits *limits,
		 struct extract_take *takes, size_t n, struct err *e) must_check;
/* Begin such a pass, which extract_finish ends: of hard links nothing is taken. */
int extract_take_start(struct arena *a, int fd, const char *name,
		       const struct extract_limits *limits, struct extract_take *takes, size_t n,
		       struct extract **ret, struct err *e) must_check;

/* Read and drop what the reader of the pipe left in it, as it may end before the child does; fd is that end of it. */
void extract_drain(struct extract *x, int fd);

/* For tests: the child's process id. */
pid_t extract_pid(const struct extract *x);
/* For tests: how often a sample of its work is taken while it is waited for, instead of each second. */
void extract_set_sample_ms(struct extract *x, int ms);
