/* extract.h - takes members out of a tar archive, by a child process that can do nothing else
 * The child (/proc/self/exe, see child.h) has no capabilities and sees no directory. The child writes to given
 * descriptors, and reports its findings. For a refused entry the error has its name and the reason. Refused are:
 * - absolute names, "..", links that leave the tree, and a ".." in a link target after a name;
 * - device nodes, fifos, sockets, setuid, setgid, and names over 4095 bytes;
 * - entries that replace a directory, bombs (sparse ones too), archives that need more than 32 MiB of memory, and
 * anything beyond the limits.
 * Owner: the caller's fds. Errors: INTEGRITY for evil or broken archives; SYSTEM, also for a child that died or was
 * idle for a minute (watch.h). Threads: all functions; one user for each extract.
 * Source: tar with gzip, xz, zstd or nothing.
 * Tests: test_extract.c, test_extract_read.c, test_extract_take.c, test_extract_watch.c. */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include "assets/digest.h"
#include "nodeup/base/str.h"

struct extract_limits {
	uint64_t entries, bytes; /* limits on all entries and on all unpacked bytes */
	struct takes *takes;     /* used in the child: see take.h */
};

struct extract;

/* The next n bytes of an archive, at p. If fd is not -1, that file has the same bytes from offset `at` on, and they
 * do not change. Then the child gets pages of that file instead of a copy. */
struct extract_piece {
	const void *p;
	size_t n;
	int fd;
	off_t at;
};

/* Gives the child the next bytes, and waits while it is busy. Fails with the child's own error if it has one. */
int extract_feed(struct extract *x, const struct extract_piece *piece, struct err *e) must_check;
/* Ends the bytes, waits for the child and reads its findings. Always frees x. */
int extract_finish(struct extract *x, struct err *e) must_check;
/* Kills and reaps the child; NULL is fine. */
void extract_abort(struct extract *x);
/* A file of an archive, by its name in the archive. A NUL follows the file's text. */
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

/* Reads the files of an archive. Leaves links out. */
int extract_read(struct arena *a, const char *name, const struct extract_bytes *archive,
		 const struct extract_limits *limits, struct extract_files *ret,
		 struct err *e) must_check;

/* A wanted member, by the last part of its name, and what was found for it. */
struct extract_take {
	const char *member;
	int fd;       /* an empty file for the member's bytes; -1: none */
	uint64_t max; /* limit on the member's bytes; 0: none */
	uint64_t
		entry; /* not 0: asks for the entry of this number instead of a name; fd may then be a pipe. A full
		        * pass gives the number as `from` */
	const char *path;     /* path of the member that was found, in the arena; NULL: not found */
	uint64_t from;        /* number of the entry that has the member's bytes */
	struct digest digest; /* sha256 of the member's bytes */
	const char *link, *target; /* a link of that name, if there is no file; NULL: none */
};

enum { EXTRACT_TAKES_MAX = 48 };

/* Takes members of the archive that is open as fd, and checks all of it. Of several files with one name it takes the
 * shallowest; of equally deep files, the first by directory. Makes further passes for more members than
 * EXTRACT_TAKES_MAX, and for hard links. Without members, it only checks the archive. A pass only for entry numbers
 * ends after the last of these entries. After an error the files may hold any bytes. */
int extract_take(struct arena *a, int fd, const char *name, const struct extract_limits *limits,
		 struct extract_take *takes, size_t n, struct err *e) must_check;
/* Begins one pass, which extract_finish ends. Takes no hard links. */
int extract_take_start(struct arena *a, int fd, const char *name,
		       const struct extract_limits *limits, struct extract_take *takes, size_t n,
		       struct extract **ret, struct err *e) must_check;

/* Reads and drops what is left in the pipe, since its reader may end before the child does. fd is the pipe's reading
 * end. */
void extract_drain(struct extract *x, int fd);

/* For tests: the child's process id. */
pid_t extract_pid(const struct extract *x);
/* For tests: sets how often the child's work is sampled during a wait, instead of each second. */
void extract_set_sample_ms(struct extract *x, int ms);
