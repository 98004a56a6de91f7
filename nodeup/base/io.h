/* io.h - files below a root, never half-written
 * Every path is absolute as the node sees it ("/etc/hosts") and resolved below root_fd, so that
 * neither ".." nor an absolute symbolic link leaves the root. A replaced file is staged beside its
 * target, fsync'ed, renamed and its directory fsync'ed.
 * Owner: returned fds and buffers are the caller's. Errors: SYSTEM; CONFIG for a file that is too
 * large. Units: bytes. Threads: all functions. Source: open(2), openat2(2), rename(2).
 * Tests: test_io.c, test_io_special.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "nodeup/base/buf.h"

/* The owner and mode that a file is to have. */
struct io_attr {
	mode_t mode;
	uid_t uid;
	gid_t gid;
};

/* Identifies one version of a file without reading it. */
struct io_stamp {
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
	uint32_t mode, uid, gid;
};

/* Open the directory that all effects stay below. */
int io_open_root(const char *path, int *ret_fd, struct err *e) must_check;

/* Open below the root with open(2) flags; O_CLOEXEC is added. -ENOENT comes without text costs. For what is
 * read as a file there is io_open_file: of a FIFO this one waits for a writer unless O_NONBLOCK is given. */
int io_open(int root_fd, const char *path, int flags, int *ret_fd, struct err *e) must_check;

/* Open a directory below the root to read it; a link is followed. */
int io_open_dir(int root_fd, const char *path, int *ret_fd, struct err *e) must_check;

/* Open a regular file below the root to read it; a link is followed. Anything else is an error at once, and
 * says what it is: -EISDIR for a directory, -ENXIO for a FIFO, a socket or a device. */
int io_open_file(int root_fd, const char *path, int *ret_fd, struct err *e) must_check;

/* As openat(2) to read what is there, with O_NOFOLLOW and O_DIRECTORY as wanted. It never waits and never
 * gets a terminal; what it opened may be anything. -1 and errno. */
int io_open_at(int dir_fd, const char *name, int flags) must_check;

/* Open or create a regular file below the root to lock it, which a link is never followed to. */
int io_open_lock(int root_fd, const char *path, mode_t mode, int *ret_fd, struct err *e) must_check;

/* The time that a pipe which a person names may take, where there is no deadline. */
#define IO_PIPE_NS INT64_C(60000000000)

/* Read a file of the host that a person named, of at most b->max bytes: `--conf=<(...)` is a pipe, and
 * /dev/stdin may be a terminal. These are read to their end within wait_ns (0: IO_PIPE_NS), else BUSY. */
int io_read_given(const char *path, int64_t wait_ns, struct buf *b, struct err *e) must_check;

/* Read a whole regular file of at most b->max bytes, appended to b; as io_open_file. */
int io_read(int root_fd, const char *path, struct buf *b, struct err *e) must_check;
/* The same of a file that is no symbolic link, for which it says -ELOOP, and what it is besides its bytes. */
int io_read_itself(int root_fd, const char *path, struct buf *b, struct stat *ret_st,
		   struct err *e) must_check;
/* The text of one of at most max bytes; NULL: it cannot be read, whatever the reason. */
char *io_text(struct arena *a, int root_fd, const char *path, size_t max);
/* Word a failed write, from errno; of a full disk or quota as io_say_room does. */
int io_write_failed(int fd, const char *name, uint64_t wanted, struct err *e);
/* As io_read for an open fd; `name` is for messages. */
int io_read_fd(int fd, const char *name, struct buf *b, struct err *e) must_check;
/* Write all of it. */
int io_write_fd(int fd, const char *name, const void *data, size_t n, struct err *e) must_check;
/* Write all of it at *at, which is behind what was written then. -errno, and errno. */
int io_write_at(int fd, const void *data, size_t n, off_t *at) must_check;
/* Names the full disk or quota that fd is on as the cause, with its mount point, its free bytes and the bytes that
 * were wanted more (0: not known). */
int io_say_room(int fd, uint64_t wanted, struct err *e);
/* Notes how to free a mount point that stands in a file's place; nothing for another error. */
void io_say_mounted(const char *path, struct err *e);
/* Returns whether this errno says that the disk is full, or our quota of it. */
bool io_is_full(int errnum);

/* Replace (or create) a file atomically and durably with data; parents must exist. */
int io_replace(int root_fd, const char *path, const void *data, size_t n,
	       const struct io_attr *attr, struct err *e) must_check;

/* Remove a file, durably; one that is not there is fine. */
int io_remove(int root_fd, const char *path, struct err *e) must_check;

/* Create a directory and its missing parents (0755, root). The last one gets mode if it is new. */
int io_mkdirs(int root_fd, const char *path, mode_t mode, struct err *e) must_check;
/* As io_mkdirs, but a parent that got a new name is not flushed: made(arg, parent) sees to that. */
typedef int io_made_fn(void *arg, int parent_fd, struct err *e);
int io_mkdirs_for(int root_fd, const char *path, mode_t mode, io_made_fn *made, void *arg,
		  struct err *e) must_check;

/* Open the directory of a path and give the last component, which points into path. */
int io_open_parent(int root_fd, const char *path, int *ret_fd, const char **ret_name,
		   struct err *e) must_check;

/* Open a directory; -ELOOP for a symbolic link. */
int io_open_own_dir(int root_fd, const char *path, int *ret_fd, struct err *e) must_check;

/* lstat below the root; -ENOENT if it is not there. */
int io_stat(int root_fd, const char *path, struct stat *ret_st, struct err *e) must_check;
/* Returns whether anything is there, a link being itself; what cannot be looked at is not. */
bool io_is_there(int root_fd, const char *path);
/* The stamp of a stat result, and whether two are the same version of the same file. */
struct io_stamp io_stamp_of(const struct stat *st);
bool io_stamp_eq(const struct io_stamp *a, const struct io_stamp *b);

/* A private unlinked-on-scope-exit staging file. Name it with io_commit, or let autostage drop it. */
struct io_stage {
	int dir_fd, fd;
	int from_fd;    /* the folder that it is in; it stays there if it is dropped. -1: dir_fd */
	char name[136]; /* ".nodeup-XXXXXXXX", "" once committed */
};
#define IO_STAGE_INIT ((struct io_stage){ .dir_fd = -1, .fd = -1, .from_fd = -1 })
#define autostage __attribute__((cleanup(io_stage_done)))

/* Open a 0600 staging file in the directory of path. */
int io_stage_open(int root_fd, const char *path, struct io_stage *s, struct err *e) must_check;
/* The same in this open directory, whatever stands at its path by now; dir_fd is the stage's, also when that fails. */
int io_stage_open_in(int dir_fd, const char *path, struct io_stage *s, struct err *e) must_check;
/* Apply attr, fsync, rename over the final name of path (same directory), fsync the directory. */
int io_stage_commit(struct io_stage *s, const char *path, const struct io_attr *attr,
		    struct err *e) must_check;
/* As io_stage_commit without the fsyncs: for what can be fetched again and is made durable later. */
int io_stage_publish(struct io_stage *s, const char *path, const struct io_attr *attr,
		     struct err *e) must_check;
/* The two steps of it: give the staged file its owner and mode, where *ret_st is from before that; and its final name. */
int io_stage_attr(const struct io_stage *s, const char *path, const struct io_attr *attr,
		  struct stat *ret_st, struct err *e) must_check;
int io_stage_name(struct io_stage *s, const char *path, struct err *e) must_check;
/* Each name but "." and "..", from where the descriptor stands, in no order. -errno, and errno. */
int io_each_name(int dir_fd, void (*each)(void *arg, const char *name), void *arg);
/* Returns a person's word for that kind of file: "directory". */
const char *io_kind(mode_t mode);
/* Unlink and close what was not committed. */
void io_stage_done(struct io_stage *s);
/* Remove the staging files in a directory whose process has ended. False: there are some that another process has open. */
bool io_stage_sweep(int root_fd, const char *dir);
