/* flush.h - what is flushed to the disk, and when: the rule, and the group that carries it out
 *
 * A name is a promise: a file that another program may read gets its name when its bytes are on the disk.
 * A record is a promise too: it is written when the files that it vouches for are on the disk. One flush for each
 * file would take a third of a run, so files are flushed together:
 *
 *   1. A task writes its file beside the place, under a staging name (io.h), and adds it to the group.
 *   2. When no working task can add a file any more, the bytes of all files are flushed: once for each file system.
 *   3. All files are renamed to their places.
 *   4. The names are flushed, once for each file system. Directories and links that were made since the
 *      last time were only noted, and are flushed with them.
 *   5. The tasks are done. Tasks that need them may start: a service never reads a file that a power cut could take back.
 *   6. Records come last. Before they are written, all that was noted is flushed.
 *
 * A power cut before step 3 leaves staging files, which the next run removes. After step 3 each file is the old one
 * or the new one, and never a part. So a kill and a power cut look alike to the next run.
 *
 * A file system is flushed as a whole (syncfs) if that is cheaper than one flush for each file, and if syncfs reports
 * lost writes: from Linux 5.8 on, and not on overlayfs. Otherwise each file and directory gets an fsync of its own.
 * If a whole flush fails, each gets its own fsync as well, since only this tells which file was lost.
 *
 * Owner: flush_new/flush_free; staging files are the group's once added. Errors: SYSTEM, for each file.
 * Threads: all functions; flush_run one at a time. Source: syncfs(2), fsync(2).
 * Tests: test_flush.c. */
#pragma once

#include "nodeup/base/io.h"

struct flush;

/* Called once for each file, by flush_run or flush_free. e NULL: the file has its name and is on the disk, and fd is
 * open for it. e not NULL: the file is not in its place. */
typedef void flush_done_fn(void *arg, int fd, const struct err *e);

/* Makes an empty group. */
struct flush *flush_new(void);
/* Removes files that were added but never flushed, and calls their `done` with ECANCELED. NULL is fine. */
void flush_free(struct flush *f);
/* Takes over a staged file whose bytes are written. Sets attr now; flush_run gives the file its name and then calls
 * `done`. */
int flush_add(struct flush *f, struct io_stage *s, const char *path, const struct io_attr *attr,
	      flush_done_fn *done, void *arg, struct err *e) must_check;
/* Notes that a name in this directory was made or removed, so that the next flush_run flushes it. If f is NULL,
 * flushes the directory at once. */
int flush_note(struct flush *f, int dir_fd, struct err *e) must_check;
/* Makes directories like io_mkdirs, and notes the directories that got a new name in them. */
int flush_mkdirs(struct flush *f, int root_fd, const char *path, mode_t mode,
		 struct err *e) must_check;
/* Returns since when (monotonic) the oldest file waits for a flush; 0: no file waits. */
int64_t flush_since(struct flush *f);
/* Flushes everything added and noted so far. Each file gets its own error. If a name was lost, this flush and each
 * later one fails, as the kernel reports the loss only once. */
int flush_run(struct flush *f, struct err *e) must_check;

/* Returns whether a flush of fd's whole file system (syncfs) reports lost writes. */
bool flush_is_whole(int fd);
/* Flushes open files of one file system, together if that is cheaper. ret_lost[i] is the errno of a file that was
 * lost; otherwise 0. Returns the number of lost files. */
size_t flush_files(const int *fds, size_t n, int *ret_lost);
