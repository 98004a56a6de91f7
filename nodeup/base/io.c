#include "nodeup/base/io.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"
#include "nodeup/base/str.h"

/* flags with which no open waits */
#define AT_ONCE (O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

static const char stage_prefix[] = ".nodeup-";

enum { DIR_MODE = 0755, STAGE_TRIES = 16, STAGE_DIGITS = 16, OPEN_TRIES = 128, NAMES_CHUNK = 8192 };

int io_open_root(const char *path, int *ret_fd, struct err *e)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(e, "open root '%s'", path);
	*ret_fd = fd;
	return 0;
}

static bool is_host_root(int root_fd)
{
	struct stat a, b;

	return fstat(root_fd, &a) == 0 && stat("/", &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/* openat2 keeps links below the root; before Linux 5.6 only the host's own root can be used. */
static int open_below(int root_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT,
	};
	int fd = -1;

	/* EAGAIN: the kernel followed a link's ".." while something was renamed, so it cannot vouch for the path */
	for (int i = 0; i < OPEN_TRIES && (i == 0 || (fd < 0 && errno == EAGAIN)); i++)
		fd = (int)syscall(SYS_openat2, root_fd, *path ? path : "/", &how, sizeof(how));
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	if (!is_host_root(root_fd)) {
		errno = ENOSYS;
		return -1;
	}
	return open(*path ? path : "/", flags | O_CLOEXEC);
}

int io_open(int root_fd, const char *path, int flags, int *ret_fd, struct err *e)
{
	int fd = open_below(root_fd, path, flags);

	if (fd < 0)
		return err_sys(e, "open '%s'", path);
	*ret_fd = fd;
	return 0;
}

int io_open_dir(int root_fd, const char *path, int *ret_fd, struct err *e)
{
	return io_open(root_fd, path, O_RDONLY | O_DIRECTORY, ret_fd, e);
}

const char *io_kind(mode_t mode)
{
	return S_ISREG(mode)    ? "file"
	       : S_ISDIR(mode)  ? "directory"
	       : S_ISLNK(mode)  ? "symbolic link"
	       : S_ISFIFO(mode) ? "FIFO"
	       : S_ISSOCK(mode) ? "socket"
	       : S_ISCHR(mode)  ? "character device"
	       : S_ISBLK(mode)  ? "block device"
				: "special file";
}

static int not_regular(const char *path, mode_t mode, struct err *e)
{
	return err_fail(e, ERR_SYSTEM, S_ISDIR(mode) ? EISDIR : ENXIO,
			"'%s' is a %s, not a regular file", path, io_kind(mode));
}

/* Words a failed open. A socket cannot be opened, nor a device without a driver, so the message names the kind of
 * object: that says more than the errno. */
static int open_failed(int root_fd, const char *path, struct err *e)
{
	const int errnum = errno;
	autoclose int fd = errnum == ENXIO || errnum == ENODEV ? open_below(root_fd, path, O_PATH)
							       : -1;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode))
		return not_regular(path, st.st_mode, e);
	errno = errnum;
	return err_sys(e, "open '%s'", path);
}

/* Hands over the open object if it is a regular file. */
static int take_regular(int *fd, int root_fd, const char *path, int *ret_fd, struct stat *ret,
			struct err *e)
{
	if (*fd < 0)
		return open_failed(root_fd, path, e);
	if (fstat(*fd, ret) < 0)
		return err_sys(e, "look at '%s'", path);
	if (!S_ISREG(ret->st_mode))
		return not_regular(path, ret->st_mode, e);
	*ret_fd = TAKE_FD(*fd);
	return 0;
}

static int open_regular(int root_fd, const char *path, int flags, int *ret_fd, struct stat *ret,
			struct err *e)
{
	autoclose int fd = open_below(root_fd, path, O_RDONLY | flags | AT_ONCE);

	return take_regular(&fd, root_fd, path, ret_fd, ret, e);
}

int io_open_file(int root_fd, const char *path, int *ret_fd, struct err *e)
{
	struct stat st;

	return open_regular(root_fd, path, 0, ret_fd, &st, e);
}

int io_open_at(int dir_fd, const char *name, int flags)
{
	return openat(dir_fd, name, O_RDONLY | flags | AT_ONCE);
}

int io_open_lock(int root_fd, const char *path, mode_t mode, int *ret_fd, struct err *e)
{
	autoclose int dir = -1, fd = -1;
	const char *name;
	struct stat st;
	int r = io_open_parent(root_fd, path, &dir, &name, e);

	if (r < 0)
		return r;
	fd = openat(dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | AT_ONCE, mode);
	return take_regular(&fd, root_fd, path, ret_fd, &st, e);
}

/* Reads to the end, but no longer than until the given time. */
static int read_stream(int fd, const char *name, int64_t until_ns, struct buf *b, struct err *e)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char chunk[16384];

	for (;;) {
		const int64_t left = until_ns - dur_now();
		ssize_t n;

		if (left <= 0)
			return err_fail(e, ERR_BUSY, ETIMEDOUT,
					"read '%s': its writer has not come to the end yet", name);
		/* a FIFO that no writer has opened yet reads as ended */
		if (poll(&p, 1, (int)(left / DUR_MS) + 1) <= 0)
			continue;
		n = read(fd, chunk, sizeof(chunk));
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return err_sys(e, "read '%s'", name);
		if (n > 0 && buf_add(b, chunk, (size_t)n) < 0)
			return buf_check(b, name, e);
	}
}

/* Reads to the reported size. Files of /proc and /sys report no size, so they are read to the end. */
static int read_up_to(int fd, off_t size, const char *name, struct buf *b, struct err *e)
{
	char chunk[16384];
	off_t at = 0;
	ssize_t n;

	while ((size == 0 || at < size) && (n = read(fd, chunk, sizeof(chunk))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read '%s'", name);
		if (buf_add(b, chunk, (size_t)n) < 0)
			return buf_check(b, name, e);
		at += n;
	}
	return 0;
}

int io_read_given(const char *path, int64_t wait_ns, struct buf *b, struct err *e)
{
	autoclose int fd = io_open_at(AT_FDCWD, path, 0);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open '%s'", path);
	if (S_ISREG(st.st_mode))
		return read_up_to(fd, st.st_size, path, b, e);
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return not_regular(path, st.st_mode, e);
	return read_stream(fd, path, dur_now() + (wait_ns > 0 ? wait_ns : IO_PIPE_NS), b, e);
}

int io_read_fd(int fd, const char *name, struct buf *b, struct err *e)
{
	return read_up_to(fd, 0, name, b, e);
}

static int read_regular(int root_fd, const char *path, int flags, struct buf *b,
			struct stat *ret_st, struct err *e)
{
	autoclose int fd = -1;
	int r = open_regular(root_fd, path, flags, &fd, ret_st, e);

	return r < 0 ? r : read_up_to(fd, ret_st->st_size, path, b, e);
}

int io_read(int root_fd, const char *path, struct buf *b, struct err *e)
{
	struct stat st;

	return read_regular(root_fd, path, 0, b, &st, e);
}

int io_read_itself(int root_fd, const char *path, struct buf *b, struct stat *ret_st, struct err *e)
{
	return read_regular(root_fd, path, O_NOFOLLOW, b, ret_st, e);
}

char *io_text(struct arena *a, int root_fd, const char *path, size_t max)
{
	autobuf struct buf b = BUF_INIT(max);
	struct err ignored;

	if (io_read(root_fd, path, &b, &ignored) < 0)
		return NULL;
	return arena_strn(a, buf_str(&b), b.len);
}

bool io_is_full(int errnum)
{
	return errnum == ENOSPC || errnum == EDQUOT;
}

/* Finds the mount point of an open file's file system: the highest folder still on it. */
static void mount_point(int fd, char ret[static PATH_MAX])
{
	autofree char *link = xasprintf("/proc/self/fd/%d", fd);
	char path[PATH_MAX], *slash;
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	struct stat here, above;

	path[n > 0 ? n : 0] = '\0';
	if (*path != '/' || fstat(fd, &here) < 0) {
		(void)print_to(ret, PATH_MAX, "its file system");
		return;
	}
	(void)print_to(ret, PATH_MAX, "%s", path);
	while (ret[1] && (slash = strrchr(path, '/'))) {
		*slash = '\0';
		if (stat(*path ? path : "/", &above) < 0 || above.st_dev != here.st_dev)
			return;
		(void)print_to(ret, PATH_MAX, "%s", *path ? path : "/");
	}
}

int io_say_room(int fd, uint64_t wanted, struct err *e)
{
	char more[STR_SIZE_MAX], size[STR_SIZE_MAX], room[STR_SIZE_MAX], where[PATH_MAX];
	struct statvfs fs;

	if (!io_is_full(e->errnum) || fstatvfs(fd, &fs) < 0)
		return err_code(e);
	mount_point(fd, where);
	if (wanted)
		err_add(e, "%s more are wanted", str_size(more, wanted));
	if (e->errnum == EDQUOT) {
		/* how much of the quota is left is unknown, and the file system may have much room */
		err_add(e, "of the quota on %s", where);
		err_cause(e, "the quota on %s is used up", where);
		return err_code(e);
	}
	if (fs.f_files && !fs.f_favail) {
		err_add(e, "no inode is free on %s (see du -xd1 --inodes)", where);
		err_cause(e, "no inode is free on %s", where);
		return err_code(e);
	}
	e->room = (struct err_room){ wanted, (uint64_t)fs.f_bavail * fs.f_frsize,
				     (uint64_t)fs.f_blocks * fs.f_frsize };
	err_add(e, "%s of %s are free on %s (see du -xhd1)", str_size(room, e->room.free),
		str_size(size, e->room.size), where);
	err_cause(e, "no room on %s", where);
	return err_code(e);
}

int io_write_failed(int fd, const char *name, uint64_t wanted, struct err *e)
{
	(void)err_sys(e, "write '%s'", name);
	return io_say_room(fd, wanted, e);
}

int io_write_fd(int fd, const char *name, const void *data, size_t n, struct err *e)
{
	const char *p = data;

	while (n > 0) {
		ssize_t w = write(fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w == 0)
			errno = EIO;
		if (w <= 0)
			return io_write_failed(fd, name, n, e);
		p += w;
		n -= (size_t)w;
	}
	return 0;
}

int io_write_at(int fd, const void *data, size_t n, off_t *at)
{
	const char *p = data;

	while (n > 0) {
		ssize_t w = pwrite(fd, p, n, *at);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			return w < 0 ? -errno : -EIO;
		p += w;
		*at += w;
		n -= (size_t)w;
	}
	return 0;
}

int io_open_parent(int root_fd, const char *path, int *ret_fd, const char **ret_name, struct err *e)
{
	const char *slash = strrchr(path, '/');
	autofree char *dir = NULL;
	int fd;

	if (!slash || slash[1] == '\0')
		return err_fail(e, ERR_SYSTEM, EINVAL, "'%s' is not an absolute file path", path);
	dir = xasprintf("%.*s", (int)(slash - path), path);
	fd = open_below(root_fd, dir, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return err_sys(e, "open directory '%s'", *dir ? dir : "/");
	*ret_fd = fd;
	*ret_name = slash + 1;
	return 0;
}

int io_open_own_dir(int root_fd, const char *path, int *ret_fd, struct err *e)
{
	autoclose int parent = -1, fd = -1;
	const char *name;
	struct stat st;
	int r = io_open_parent(root_fd, path, &parent, &name, e);

	if (r < 0)
		return r;
	/* without O_DIRECTORY: with it, the error for a link would be ENOTDIR */
	fd = io_open_at(parent, name, O_NOFOLLOW);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open directory '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return err_fail(e, ERR_SYSTEM, ENOTDIR, "'%s' is in the way: not a directory",
				path);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

int io_remove(int root_fd, const char *path, struct err *e)
{
	autoclose int dir_fd = -1;
	const char *name;
	int r = io_open_parent(root_fd, path, &dir_fd, &name, e);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	if (unlinkat(dir_fd, name, 0) < 0 && errno != ENOENT)
		return err_sys(e, "remove %s", path);
	return fsync(dir_fd) < 0 ? err_sys(e, "sync the folder of %s", path) : 0;
}

static bool is_dir(int root_fd, const char *path)
{
	autoclose int fd = open_below(root_fd, path, O_PATH | O_DIRECTORY);

	return fd >= 0;
}

/* A request to make directories below a root; `made` lets the caller flush the parent of a new directory. */
struct making {
	int root_fd;
	io_made_fn *made;
	void *arg;
};

static int make_dir(const struct making *m, const char *path, mode_t mode, struct err *e)
{
	autoclose int parent = -1, fd = -1;
	const char *name;
	int r;

	r = io_open_parent(m->root_fd, path, &parent, &name, e);
	if (r < 0)
		return r;
	if (mkdirat(parent, name, DIR_MODE) < 0) {
		/* another process may have made the directory first; but a file in its place is an error */
		if (errno == EEXIST && is_dir(m->root_fd, path))
			return 0;
		(void)err_sys(e, "create directory '%s'", path);
		return io_say_room(parent, 0, e);
	}
	/* sets the mode in spite of the umask; follows no link, as below a user's directory the path may be a link
	 * by now */
	fd = io_open_at(parent, name, O_DIRECTORY | O_NOFOLLOW);
	if (fd < 0 || fchmod(fd, mode) < 0)
		return err_sys(e, "set the mode of '%s'", path);
	r = m->made(m->arg, parent, e);
	return r < 0 ? err_wrap(e, "create directory '%s'", path) : 0;
}

static int sync_parent(void *arg, int parent_fd, struct err *e)
{
	(void)arg;
	return fsync(parent_fd) < 0 && errno != EINVAL ? err_sys(e, "sync its parent") : 0;
}

int io_mkdirs(int root_fd, const char *path, mode_t mode, struct err *e)
{
	return io_mkdirs_for(root_fd, path, mode, sync_parent, NULL, e);
}

/* Returns the length of the nearest existing directory above a path; 0: the root. */
static size_t find_above(int root_fd, const char *path)
{
	autofree char *above = xstrdup(path);
	char *slash;

	while ((slash = strrchr(above, '/')) && slash > above) {
		*slash = '\0';
		if (is_dir(root_fd, above))
			return (size_t)(slash - above);
	}
	return 0;
}

int io_mkdirs_for(int root_fd, const char *path, mode_t mode, io_made_fn *made, void *arg,
		  struct err *e)
{
	const struct making making = { root_fd, made, arg };
	autofree char *part = xstrdup(path);
	size_t len = strlen(part);
	int r;

	while (len > 1 && part[len - 1] == '/')
		part[--len] = '\0';
	if (is_dir(root_fd, part))
		return 0;
	for (char *p = strchr(part + find_above(root_fd, part) + 1, '/'); p;
	     p = strchr(p + 1, '/')) {
		*p = '\0';
		r = make_dir(&making, part, DIR_MODE, e);
		*p = '/';
		if (r < 0)
			return r;
	}
	return make_dir(&making, part, mode, e);
}

int io_stat(int root_fd, const char *path, struct stat *ret_st, struct err *e)
{
	autoclose int fd = open_below(root_fd, path, O_PATH | O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "look at '%s'", path);
	*ret_st = st;
	return 0;
}

bool io_is_there(int root_fd, const char *path)
{
	struct err ignored;
	struct stat st;

	return io_stat(root_fd, path, &st, &ignored) == 0;
}

static int64_t to_ns(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct io_stamp io_stamp_of(const struct stat *st)
{
	return (struct io_stamp){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = to_ns(st->st_mtim),
		.ctime_ns = to_ns(st->st_ctim),
		.mode = st->st_mode,
		.uid = st->st_uid,
		.gid = st->st_gid,
	};
}

bool io_stamp_eq(const struct io_stamp *a, const struct io_stamp *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size &&
	       a->mtime_ns == b->mtime_ns && a->ctime_ns == b->ctime_ns && a->mode == b->mode &&
	       a->uid == b->uid && a->gid == b->gid;
}

int io_stage_open_in(int dir_fd, const char *path, struct io_stage *s, struct err *e)
{
	struct io_stage stage = { .dir_fd = dir_fd, .fd = -1, .from_fd = -1 };
	int r;

	for (int i = 0; i < STAGE_TRIES && stage.fd < 0; i++) {
		struct stat st;
		uint64_t id;

		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			break;
		(void)print_to(stage.name, sizeof(stage.name), "%s%0*llx", stage_prefix,
			       STAGE_DIGITS, (unsigned long long)id);
		stage.fd = openat(stage.dir_fd, stage.name,
				  O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
		if (stage.fd < 0 && errno != EEXIST)
			break;
		if (stage.fd < 0)
			continue;
		/* the lock tells other processes, which sweep the directory, that this file is in use. If a sweeper
		 * was faster, makes another file */
		(void)flock(stage.fd, LOCK_SH);
		if (fstat(stage.fd, &st) == 0 && st.st_nlink == 0)
			cleanup_closep(&stage.fd);
	}
	if (stage.fd < 0) {
		(void)err_sys(e, "stage a file beside '%s'", path);
		r = io_say_room(stage.dir_fd, 0, e);
		cleanup_closep(&stage.dir_fd);
		return r;
	}
	*s = stage;
	return 0;
}

int io_stage_open(int root_fd, const char *path, struct io_stage *s, struct err *e)
{
	const char *name;
	int dir_fd = -1;
	int r = io_open_parent(root_fd, path, &dir_fd, &name, e);

	return r < 0 ? r : io_stage_open_in(dir_fd, path, s, e);
}

int io_each_name(int dir_fd, void (*each)(void *arg, const char *name), void *arg)
{
	_Alignas(struct dirent64) char entries[NAMES_CHUNK];
	ssize_t n;

	/* getdents64, as readdir would take over the descriptor and make three more calls */
	while ((n = getdents64(dir_fd, entries, sizeof(entries))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *d = (const void *)(entries + at);

			if (!str_eq(d->d_name, ".") && !str_eq(d->d_name, ".."))
				each(arg, d->d_name);
			at += d->d_reclen;
		}
	return n < 0 ? -errno : 0;
}

struct sweep {
	int dir_fd;
	bool all;
};

/* Returns whether io_stage_open_in gives such a name; others may have files with our prefix. */
static bool is_stage(const char *name)
{
	const size_t n = strlen(stage_prefix) + STAGE_DIGITS;

	return str_has_prefix(name, stage_prefix) && strlen(name) == n &&
	       strspn(name + n - STAGE_DIGITS, "0123456789abcdef") == STAGE_DIGITS;
}

static void sweep_name(void *arg, const char *name)
{
	struct sweep *s = arg;
	autoclose int fd = -1;

	if (!is_stage(name))
		return;
	fd = io_open_at(s->dir_fd, name, O_NOFOLLOW);
	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		(void)unlinkat(s->dir_fd, name, 0);
	else
		s->all = false;
}

bool io_stage_sweep(int root_fd, const char *dir)
{
	autoclose int dir_fd = -1;
	struct sweep s = { .all = true };
	struct err ignored;

	/* a directory that cannot be listed is left to a later run */
	if (io_open_dir(root_fd, dir, &dir_fd, &ignored) == 0) {
		s.dir_fd = dir_fd;
		(void)io_each_name(dir_fd, sweep_name, &s);
	}
	return s.all;
}

int io_stage_attr(const struct io_stage *s, const char *path, const struct io_attr *attr,
		  struct stat *ret_st, struct err *e)
{
	if (fstat(s->fd, ret_st) < 0)
		return err_sys(e, "look at '%s'", path);
	/* in most cases the file has this owner already */
	if ((ret_st->st_uid != attr->uid || ret_st->st_gid != attr->gid) &&
	    fchown(s->fd, attr->uid, attr->gid) < 0)
		return err_sys(e, "set the owner of '%s'", path);
	if (fchmod(s->fd, attr->mode) < 0)
		return err_sys(e, "set the mode of '%s'", path);
	return 0;
}

void io_say_mounted(const char *path, struct err *e)
{
	if (e->errnum == EBUSY)
		err_note(e, "do",
			 "umount %s: it is a mount point, and no other file can take its place",
			 path);
}

int io_say_taken(const char *path, struct err *e)
{
	return err_fail(e, ERR_REFUSED, EEXIST, "'%s' exists, and is not replaced", path);
}

/* Renames without replacing, also on a file system without such a rename. */
static int rename_new(int dir_fd, const char *from, const char *to)
{
	if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL || linkat(dir_fd, from, dir_fd, to, 0) < 0)
		return -1;
	return unlinkat(dir_fd, from, 0);
}

int io_stage_name(struct io_stage *s, const char *path, struct err *e)
{
	const int from = s->from_fd >= 0 ? s->from_fd : s->dir_fd;
	struct stat staged, named;

	if (s->from_fd >= 0 &&
	    (fstat(s->fd, &staged) < 0 || fstatat(from, s->name, &named, AT_SYMLINK_NOFOLLOW) < 0 ||
	     staged.st_ino != named.st_ino))
		return err_fail(e, ERR_SYSTEM, ESTALE,
				"what was to become '%s' was replaced meanwhile", path);
	if (renameat(from, s->name, s->dir_fd, strrchr(path, '/') + 1) < 0) {
		(void)err_sys(e, "rename into '%s'", path);
		io_say_mounted(path, e);
		return io_say_room(s->dir_fd, 0, e);
	}
	s->name[0] = '\0';
	return 0;
}

int io_stage_publish(struct io_stage *s, const char *path, const struct io_attr *attr,
		     struct err *e)
{
	struct stat st;
	int r = io_stage_attr(s, path, attr, &st, e);

	return r < 0 ? r : io_stage_name(s, path, e);
}

int io_stage_commit_new(struct io_stage *s, const char *path, struct err *e)
{
	if (fsync(s->fd) < 0)
		return io_write_failed(s->fd, path, 0, e);
	if (rename_new(s->dir_fd, s->name, strrchr(path, '/') + 1) < 0) {
		if (errno == EEXIST)
			return io_say_taken(path, e);
		(void)err_sys(e, "rename into '%s'", path);
		return io_say_room(s->dir_fd, 0, e);
	}
	s->name[0] = '\0';
	return fsync(s->dir_fd) < 0 ? err_sys(e, "sync the directory of '%s'", path) : 0;
}

int io_stage_commit(struct io_stage *s, const char *path, const struct io_attr *attr, struct err *e)
{
	struct stat st;
	int r = io_stage_attr(s, path, attr, &st, e);

	if (r < 0)
		return r;
	if (fsync(s->fd) < 0)
		return err_sys(e, "sync '%s'", path);
	r = io_stage_name(s, path, e);
	if (r < 0)
		return r;
	return fsync(s->dir_fd) < 0 ? err_sys(e, "sync the directory of '%s'", path) : 0;
}

void io_stage_done(struct io_stage *s)
{
	if (s->dir_fd >= 0 && s->from_fd < 0 && s->name[0])
		(void)unlinkat(s->dir_fd, s->name, 0);
	cleanup_closep(&s->fd);
	cleanup_closep(&s->dir_fd);
	cleanup_closep(&s->from_fd);
	*s = IO_STAGE_INIT;
}

int io_replace(int root_fd, const char *path, const void *data, size_t n,
	       const struct io_attr *attr, struct err *e)
{
	autostage struct io_stage s = IO_STAGE_INIT;
	int r = io_stage_open(root_fd, path, &s, e);

	if (r >= 0)
		r = io_write_fd(s.fd, path, data, n, e);
	return r < 0 ? r : io_stage_commit(&s, path, attr, e);
}
