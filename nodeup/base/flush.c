#include "nodeup/base/flush.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/mem.h"

/* up to this number of files are flushed one by one, so that they need not wait for other writes */
enum { FEW = 2 };
/* if a file has this many bytes or more, its bytes go to the disk early, to keep the disk busy */
enum { BEHIND_LEAST = 64 * 1024 };
/* OVERLAYFS_SUPER_MAGIC: a flush of overlayfs flushes the file system below, but does not report the errors of that
 * file system */
enum { OVERLAY_MAGIC = 0x794c7630 };

struct flush_file {
	struct io_stage stage;
	dev_t dev;
	char *path;
	flush_done_fn *done;
	void *arg;
	struct err *err; /* NULL: no error so far */
};

/* A directory with a new name in it. If a file system can be flushed as a whole, only one of its directories is
 * noted. */
struct flush_dir {
	dev_t dev;
	ino_t ino;
	int fd;
	bool whole; /* the directory's file system can be flushed as a whole; checked once for each file system */
};

struct flush {
	pthread_mutex_t lock;
	struct flush_file *files;
	size_t n;
	struct flush_dir *dirs;
	size_t n_dirs;
	int64_t since_ns;
	struct err *lost; /* error of the first failed flush of names; reported only once */
};

bool flush_is_whole(int fd)
{
	unsigned int major = 0, minor = 0;
	struct utsname u;
	struct statfs fs;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		return false;
	return (major > 5 || (major == 5 && minor >= 8)) && fstatfs(fd, &fs) == 0 &&
	       fs.f_type != OVERLAY_MAGIC;
}

size_t flush_files(const int *fds, size_t n, int *ret_lost)
{
	size_t lost = 0;

	memset(ret_lost, 0, n * sizeof(*ret_lost));
	if (n > FEW && flush_is_whole(fds[0]) && syncfs(fds[0]) == 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		ret_lost[i] = fsync(fds[i]) < 0 ? errno : 0;
		lost += ret_lost[i] != 0;
	}
	return lost;
}

struct flush *flush_new(void)
{
	struct flush *f = xcalloc(1, sizeof(*f));

	(void)pthread_mutex_init(&f->lock, NULL);
	return f;
}

static void drop_file(struct flush_file *file)
{
	io_stage_done(&file->stage);
	free(file->path);
	free(file->err);
}

void flush_free(struct flush *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->n; i++) {
		struct err e;

		(void)err_fail(&e, ERR_BUSY, ECANCELED, "the run ended before '%s' was named",
			       f->files[i].path);
		f->files[i].done(f->files[i].arg, f->files[i].stage.fd, &e);
		drop_file(&f->files[i]);
	}
	for (size_t i = 0; i < f->n_dirs; i++)
		(void)close(f->dirs[i].fd);
	free(f->files);
	free(f->dirs);
	free(f->lost);
	(void)pthread_mutex_destroy(&f->lock);
	free(f);
}

int flush_add(struct flush *f, struct io_stage *s, const char *path, const struct io_attr *attr,
	      flush_done_fn *done, void *arg, struct err *e)
{
	struct flush_file file = { .done = done, .arg = arg };
	struct stat st;
	int r = io_stage_attr(s, path, attr, &st, e);

	if (r < 0)
		return r;
	/* starts writing to the disk before the group is flushed */
	if (st.st_size >= BEHIND_LEAST)
		(void)sync_file_range(s->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	file.dev = st.st_dev;
	file.path = xstrdup(path);
	file.stage = *s;
	*s = IO_STAGE_INIT;
	(void)pthread_mutex_lock(&f->lock);
	f->files = xrealloc(f->files, (f->n + 1) * sizeof(*f->files));
	f->files[f->n++] = file;
	if (!f->since_ns)
		f->since_ns = dur_now();
	(void)pthread_mutex_unlock(&f->lock);
	return 0;
}

/* The caller has the lock. */
static bool is_noted(const struct flush *f, const struct stat *st)
{
	for (size_t i = 0; i < f->n_dirs; i++)
		if (f->dirs[i].dev == st->st_dev &&
		    (f->dirs[i].whole || f->dirs[i].ino == st->st_ino))
			return true;
	return false;
}

int flush_note(struct flush *f, int dir_fd, struct err *e)
{
	struct flush_dir dir = { .fd = -1 };
	struct stat st;
	int r = 0;

	if (!f)
		return fsync(dir_fd) < 0 && errno != EINVAL ? err_sys(e, "sync a directory") : 0;
	if (fstat(dir_fd, &st) < 0)
		return err_sys(e, "look at a directory");
	dir.dev = st.st_dev;
	dir.ino = st.st_ino;
	(void)pthread_mutex_lock(&f->lock);
	if (!is_noted(f, &st)) {
		dir.whole = flush_is_whole(dir_fd);
		/* opens the directory anew: the caller's descriptor may be of O_PATH, and then neither it nor a copy
		 * can be flushed */
		dir.fd = io_open_at(dir_fd, ".", O_DIRECTORY);
		r = dir.fd < 0 ? err_sys(e, "open a directory again") : 0;
	}
	if (dir.fd >= 0) {
		f->dirs = xrealloc(f->dirs, (f->n_dirs + 1) * sizeof(*f->dirs));
		f->dirs[f->n_dirs++] = dir;
	}
	(void)pthread_mutex_unlock(&f->lock);
	return r;
}

static int note_parent(void *arg, int parent_fd, struct err *e)
{
	return flush_note(arg, parent_fd, e);
}

int flush_mkdirs(struct flush *f, int root_fd, const char *path, mode_t mode, struct err *e)
{
	return io_mkdirs_for(root_fd, path, mode, note_parent, f, e);
}

int64_t flush_since(struct flush *f)
{
	int64_t since;

	(void)pthread_mutex_lock(&f->lock);
	since = f->since_ns;
	(void)pthread_mutex_unlock(&f->lock);
	return since;
}

static struct err *keep_error(const struct err *e)
{
	struct err *kept = xcalloc(1, sizeof(*kept));

	*kept = *e;
	return kept;
}

static int by_device(const void *a, const void *b)
{
	const struct flush_file *x = a, *y = b;

	return (x->dev > y->dev) - (x->dev < y->dev);
}

/* Flushes the bytes of files on one file system. */
static void flush_bytes(struct flush_file *files, size_t n)
{
	int *fds = xcalloc(n, sizeof(*fds)), *lost = xcalloc(n, sizeof(*lost));
	struct err e;

	for (size_t i = 0; i < n; i++)
		fds[i] = files[i].stage.fd;
	(void)flush_files(fds, n, lost);
	for (size_t i = 0; i < n; i++)
		if (lost[i]) {
			(void)err_fail(&e, ERR_SYSTEM, lost[i], "sync '%s': %s", files[i].path,
				       strerror(lost[i]));
			files[i].err = keep_error(&e);
		}
	free(fds);
	free(lost);
}

/* Renames the files whose bytes are on the disk, and notes their directories. */
static void name_files(struct flush *f, struct flush_file *files, size_t n)
{
	struct err e;

	for (size_t i = 0; i < n; i++) {
		struct flush_file *file = &files[i];

		if (!file->err && (io_stage_name(&file->stage, file->path, &e) < 0 ||
				   flush_note(f, file->stage.dir_fd, &e) < 0))
			file->err = keep_error(&e);
	}
}

/* Flushes the noted directories. If a directory stands for its whole file system, flushes that file system. */
static int flush_names(const struct flush_dir *dirs, size_t n, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < n; i++)
		if ((dirs[i].whole ? syncfs(dirs[i].fd) : fsync(dirs[i].fd)) < 0 && errno != EINVAL)
			r = err_sys(e, "sync the directories that were changed");
	return r;
}

int flush_run(struct flush *f, struct err *e)
{
	struct flush_file *files;
	struct flush_dir *dirs;
	size_t n, n_dirs;
	int r;

	(void)pthread_mutex_lock(&f->lock);
	files = TAKE(f->files);
	n = f->n;
	f->n = 0;
	f->since_ns = 0;
	(void)pthread_mutex_unlock(&f->lock);
	if (n)
		qsort(files, n, sizeof(*files), by_device);
	for (size_t i = 0, from = 0; i < n; i++)
		if (i + 1 == n || files[i + 1].dev != files[from].dev) {
			flush_bytes(files + from, i + 1 - from);
			from = i + 1;
		}
	name_files(f, files, n);
	(void)pthread_mutex_lock(&f->lock);
	dirs = TAKE(f->dirs);
	n_dirs = f->n_dirs;
	f->n_dirs = 0;
	(void)pthread_mutex_unlock(&f->lock);
	r = flush_names(dirs, n_dirs, e);
	if (r < 0 && !f->lost)
		f->lost = keep_error(e);
	for (size_t i = 0; i < n; i++) {
		const struct err *why = files[i].err;

		files[i].done(files[i].arg, files[i].stage.fd, why ? why : r < 0 ? e : NULL);
		drop_file(&files[i]);
	}
	for (size_t i = 0; i < n_dirs; i++)
		(void)close(dirs[i].fd);
	free(files);
	free(dirs);
	if (!f->lost)
		return 0;
	*e = *f->lost;
	return err_code(e);
}
