/* io.h - files below a root, never half-written
 * Every path is absolute as the node sees it ("/etc/hosts"). A path is resolved below root_fd, so neither ".." nor
 * an absolute symbolic link leaves the root. A replaced file is staged beside its target, fsync'ed, renamed and its
 * directory fsync'ed.
 * Owner: returned fds and buffers are the caller's. Errors: SYSTEM; CONFIG for a file that is too large. Units:
 * bytes.
 * Threads: all functions. Source: open(2), openat2(2), rename(2).
 * Tests: test_io.c, test_io_special.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include "nodeup/base/buf.h"

/* The owner and mode that a file must have. */
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

/* Opens the directory below which all effects stay. */
int io_open_root(const char *path, int *ret_fd, struct err *e) must_check;

/* Opens a path below the root with open(2) flags and O_CLOEXEC. For -ENOENT, *e gets no text. To read a file use
 * io_open_file: this function waits for a FIFO's writer, unless O_NONBLOCK is given. */
int io_open(int root_fd, const char *path, int flags, int *ret_fd, struct err *e) must_check;

/* Opens a directory below the root to read it; follows a link. */
int io_open_dir(int root_fd, const char *path, int *ret_fd, struct err *e) must_check;

/* Opens a regular file below the root to read it; follows a link. For any other object it fails at once, and the
 * error names the kind of object: -EISDIR for a directory, -ENXIO for a FIFO, a socket or a device. */
int io_open_file(int root_fd, const char *path, int *ret_fd, struct err *e) must_check;

/* Opens any object to read it, like openat(2); flags may have O_NOFOLLOW and O_DIRECTORY. Never waits, and never
 * gets a controlling terminal. On failure returns -1, and sets errno. */
int io_open_at(int dir_fd, const char *name, int flags) must_check;

/* Opens or creates a regular file below the root to lock it; never follows a link to it. */
int io_open_lock(int root_fd, const char *path, mode_t mode, int *ret_fd, struct err *e) must_check;

/* The time to wait for a pipe that a person names, if there is no deadline. */
#define IO_PIPE_NS INT64_C(60000000000)

/* Reads a host's file that a person named, of at most b->max bytes. The file may be a pipe, as with `--conf=<(...)`,
 * or a terminal, as /dev/stdin. Reads such a file to its end within wait_ns (0: IO_PIPE_NS); fails with BUSY if that
 * takes longer. */
int io_read_given(const char *path, int64_t wait_ns, struct buf *b, struct err *e) must_check;

/* Appends a whole regular file of at most b->max bytes to b. Opens the file like io_open_file. */
int io_read(int root_fd, const char *path, struct buf *b, struct err *e) must_check;
/* Like io_read, for a file that must not be a symbolic link (-ELOOP); also gives the file's stat. */
int io_read_itself(int root_fd, const char *path, struct buf *b, struct stat *ret_st,
		   struct err *e) must_check;
/* Returns the text of a file of at most max bytes; NULL: the file cannot be read, for whatever reason. */
char *io_text(struct arena *a, int root_fd, const char *path, size_t max);
/* Fills the error of a failed write from errno. If the disk or quota is full, also does what io_say_room does. */
int io_write_failed(int fd, const char *name, uint64_t wanted, struct err *e);
/* Like io_read, but for an open fd; `name` is for messages. */
int io_read_fd(int fd, const char *name, struct buf *b, struct err *e) must_check;
/* Writes all bytes. */
int io_write_fd(int fd, const char *name, const void *data, size_t n, struct err *e) must_check;
/* Writes all bytes at *at, and moves *at behind them. On failure returns -errno, and sets errno. */
int io_write_at(int fd, const void *data, size_t n, off_t *at) must_check;
/* Names fd's full disk or quota as the cause, with its mount point, its free bytes and the bytes still wanted (0:
 * not known). */
int io_say_room(int fd, uint64_t wanted, struct err *e);
/* If the error is that a mount point is in a file's place, notes how to free it. Leaves other errors as they are. */
void io_say_mounted(const char *path, struct err *e);
/* Returns whether this errno says that the disk, or our quota of it, is full. */
bool io_is_full(int errnum);

/* Replaces or creates a file atomically and durably with data; its parents must exist. */
int io_replace(int root_fd, const char *path, const void *data, size_t n,
	       const struct io_attr *attr, struct err *e) must_check;

/* Removes a file durably; a missing file is fine. */
int io_remove(int root_fd, const char *path, struct err *e) must_check;

/* Creates a directory and its missing parents (0755, root). If the directory itself is new, it gets `mode`. */
int io_mkdirs(int root_fd, const char *path, mode_t mode, struct err *e) must_check;
/* Like io_mkdirs, but leaves it to made(arg, parent) to flush the parents of new names. */
typedef int io_made_fn(void *arg, int parent_fd, struct err *e);
int io_mkdirs_for(int root_fd, const char *path, mode_t mode, io_made_fn *made, void *arg,
		  struct err *e) must_check;

/* Opens the directory of a path and gives the last component, which points into path. */
int io_open_parent(int root_fd, const char *path, int *ret_fd, const char **ret_name,
		   struct err *e) must_check;

/* Opens a directory; -ELOOP for a symbolic link. */
int io_open_own_dir(int root_fd, const char *path, int *ret_fd, struct err *e) must_check;

/* lstat below the root; -ENOENT if the object is missing. */
int io_stat(int root_fd, const char *path, struct stat *ret_st, struct err *e) must_check;
/* Returns whether an object exists, even if it is a link to nothing. Returns false if the object cannot be looked
 * at. */
bool io_is_there(int root_fd, const char *path);
/* Make the stamp of a stat result, and return whether two stamps are of the same version of the same file. */
struct io_stamp io_stamp_of(const struct stat *st);
bool io_stamp_eq(const struct io_stamp *a, const struct io_stamp *b);

/* A private staging file. io_stage_commit gives the file its final name. If io_stage_commit was not called,
 * autostage unlinks the file at the scope's end. */
struct io_stage {
	int dir_fd, fd;
	int from_fd; /* the folder in which the file is, and in which it stays if the stage is dropped; -1: dir_fd */
	char name[136]; /* ".nodeup-XXXXXXXX", "" once committed */
};
#define IO_STAGE_INIT ((struct io_stage){ .dir_fd = -1, .fd = -1, .from_fd = -1 })
#define autostage __attribute__((cleanup(io_stage_done)))

/* Opens a 0600 staging file in the directory of path. */
int io_stage_open(int root_fd, const char *path, struct io_stage *s, struct err *e) must_check;
/* Opens the staging file in this open directory, even if another directory is at the path by now. dir_fd belongs to
 * the stage, even after a failure. */
int io_stage_open_in(int dir_fd, const char *path, struct io_stage *s, struct err *e) must_check;
/* Sets attr, fsyncs, renames to the final name of path (same directory), fsyncs the directory. */
int io_stage_commit(struct io_stage *s, const char *path, const struct io_attr *attr,
		    struct err *e) must_check;
/* Like io_stage_commit, but keeps the stage's 0600, and fails with REFUSED if the name is taken. */
int io_stage_commit_new(struct io_stage *s, const char *path, struct err *e) must_check;
/* Fails because the name is taken. */
int io_say_taken(const char *path, struct err *e);
/* Like io_stage_commit, but without fsync: for files that can be fetched again and are made durable later. */
int io_stage_publish(struct io_stage *s, const char *path, const struct io_attr *attr,
		     struct err *e) must_check;
/* The two steps of io_stage_publish. io_stage_attr sets the staged file's owner and mode, and *ret_st is the stat
 * before this. io_stage_name gives the file its final name. */
int io_stage_attr(const struct io_stage *s, const char *path, const struct io_attr *attr,
		  struct stat *ret_st, struct err *e) must_check;
int io_stage_name(struct io_stage *s, const char *path, struct err *e) must_check;
/* Calls `each` for every name except "." and "..", from the descriptor's offset on, in no order. On failure returns
 * -errno, and sets errno. */
int io_each_name(int dir_fd, void (*each)(void *arg, const char *name), void *arg);
/* Returns the word for a file of this mode: "directory". */
const char *io_kind(mode_t mode);
/* Unlinks and closes a stage that was not committed. */
void io_stage_done(struct io_stage *s);
/* Removes staging files of ended processes in a directory. False: another process still has a staging file open. */
bool io_stage_sweep(int root_fd, const char *dir);
