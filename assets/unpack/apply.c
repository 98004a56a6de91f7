#include "assets/unpack/apply.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/mem.h"
#include "nodeup/base/str.h"

struct apply {
	const char *name;
	int dir_fd;
	char path[EXTRACT_NAME_MAX + 1];
	char parent[EXTRACT_NAME_MAX + 1]; /* whose descriptor parent_fd is */
	int parent_fd;
	struct extract_report *report;
	/* modes and times of directories are set last, as what is put into them changes both; where
	 * they are in the report, since there may be 200 000 of them */
	struct arena *arena;
	uint32_t *dirs;
	size_t ndirs;
	struct err *e;
};

static int refuse_entry(struct apply *a, const char *path, const char *what)
{
	return extract_refuse(a->name, path, what, a->e);
}

static int sys_error(struct apply *a, const char *what)
{
	return err_sys(a->e, "archive '%s': %s '%s'", a->name, what, a->path);
}

/* The directory of a->path, which is the same for many entries in a row. */
static int parent_of(struct apply *a, const char **ret_name)
{
	const char *slash = strrchr(a->path, '/');
	size_t n = slash ? (size_t)(slash - a->path) : 0;
	int fd;

	if (a->parent_fd >= 0 && strlen(a->parent) == n && memcmp(a->parent, a->path, n) == 0) {
		*ret_name = slash ? slash + 1 : a->path;
		return a->parent_fd;
	}
	fd = extract_open_parent(a->dir_fd, a->path, NULL, NULL, ret_name);
	if (fd < 0)
		return err_fail(a->e, ERR_SYSTEM, -fd,
				"archive '%s': open the directory of '%s': %s", a->name, a->path,
				strerror(-fd));
	cleanup_closep(&a->parent_fd);
	a->parent_fd = fd;
	memcpy(a->parent, a->path, n);
	a->parent[n] = '\0';
	return fd;
}

/* Open what was looked at, and nothing that has its name since. */
static int open_same(struct apply *a, int parent, const char *name, const struct stat *st)
{
	const int how = S_ISDIR(st->st_mode) ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_NONBLOCK;
	autoclose int fd = openat(parent, name, how | O_NOFOLLOW | O_CLOEXEC);
	struct stat now;

	if (fd < 0 || fstat(fd, &now) < 0)
		return sys_error(a, "open");
	if (now.st_ino != st->st_ino || now.st_dev != st->st_dev)
		return refuse_entry(a, a->path, "it is no longer what it was");
	return TAKE_FD(fd);
}

static int set_meta(struct apply *a, int fd, mode_t mode, const struct timespec *mtime)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, *mtime };

	if (fchmod(fd, mode) < 0)
		return sys_error(a, "set the mode of");
	if (futimens(fd, times) < 0)
		return sys_error(a, "set the time of");
	return 0;
}

static int take_over(struct apply *a, int fd)
{
	if (geteuid() == 0 && fchown(fd, 0, 0) < 0)
		return sys_error(a, "set the owner of");
	return 0;
}

static bool is_placeholder(const struct stat *st)
{
	return S_ISREG(st->st_mode) && (st->st_mode & 07777) == 0 && st->st_size == 0;
}

static int apply_file(struct apply *a, int parent, const char *name, const struct stat *st,
		      const struct extract_entry *told)
{
	autoclose int fd = -1;
	int r;

	if (!S_ISREG(st->st_mode))
		return refuse_entry(a, a->path, "it is no longer a file");
	/* a later entry of this name is a link */
	if (is_placeholder(st))
		return 0;
	/* another name of a file whose own entry has set them */
	if (told->kind == EXTRACT_HARDLINK && (st->st_mode & 07777) != EXTRACT_NEW_MODE)
		return 0;
	fd = open_same(a, parent, name, st);
	r = fd < 0 ? fd : take_over(a, fd);
	return r < 0 ? r : set_meta(a, fd, told->mode & EXTRACT_MODES, &told->mtime);
}

static int apply_link(struct apply *a, int parent, const char *name, const struct stat *st,
		      const struct extract_entry *told)
{
	const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, told->mtime };
	const char *why = extract_check_target(a->path, told->target);

	if (why)
		return refuse_entry(a, a->path, why);
	/* a later entry of this name is a file */
	if (!is_placeholder(st) && !S_ISLNK(st->st_mode))
		return 0;
	if (unlinkat(parent, name, 0) < 0 || symlinkat(told->target, parent, name) < 0)
		return sys_error(a, "create link");
	if (utimensat(parent, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return sys_error(a, "set the time of");
	if (geteuid() == 0 && fchownat(parent, name, 0, 0, AT_SYMLINK_NOFOLLOW) < 0)
		return sys_error(a, "set the owner of");
	return 0;
}

static int apply_dir(struct apply *a, int parent, const char *name, const struct stat *st,
		     const struct extract_entry *told)
{
	autoclose int fd = -1;

	if (!S_ISDIR(st->st_mode))
		return refuse_entry(a, a->path, "it is no longer a directory");
	if (told->kind == EXTRACT_DIR)
		arena_push(a->arena, a->dirs, a->ndirs, (uint32_t)a->report->at);
	fd = open_same(a, parent, name, st);
	return fd < 0 ? fd : take_over(a, fd);
}

/* What is told of: *ret_name in the directory that is returned, and what it is now. */
static int find_entry(struct apply *a, const struct extract_entry *told, const char **ret_name,
		      struct stat *ret_st)
{
	const char *why = extract_clean(told->path, a->path);
	int parent;

	if (why || a->path[0] == '\0')
		return refuse_entry(a, told->path, why ? why : "no name");
	parent = parent_of(a, ret_name);
	if (parent >= 0 && told->kind != EXTRACT_SKIPPED &&
	    fstatat(parent, *ret_name, ret_st, AT_SYMLINK_NOFOLLOW) < 0)
		return sys_error(a, "find");
	return parent;
}

static int apply_entry(struct apply *a, const struct extract_entry *told)
{
	const char *name;
	struct stat st;
	int parent = find_entry(a, told, &name, &st);

	if (parent < 0)
		return parent;
	/* an earlier entry may have had the same name */
	if (told->kind == EXTRACT_SKIPPED)
		return unlinkat(parent, name, 0) < 0 && errno != ENOENT ? sys_error(a, "remove")
									: 0;
	if (told->kind == EXTRACT_LINK)
		return apply_link(a, parent, name, &st, told);
	if (told->kind == EXTRACT_FILE || told->kind == EXTRACT_HARDLINK)
		return apply_file(a, parent, name, &st, told);
	return apply_dir(a, parent, name, &st, told);
}

static int finish_dir(struct apply *a, const struct extract_entry *told)
{
	autoclose int fd = -1;
	const char *name;
	struct stat st;
	int parent = find_entry(a, told, &name, &st);

	if (parent < 0)
		return parent;
	if (told->kind != EXTRACT_DIR || !S_ISDIR(st.st_mode))
		return refuse_entry(a, a->path, "it is no longer a directory");
	fd = open_same(a, parent, name, &st);
	return fd < 0 ? fd : set_meta(a, fd, told->mode & EXTRACT_MODES, &told->mtime);
}

static int finish_dirs(struct apply *a)
{
	struct extract_entry told;
	int r = 0;

	/* a directory comes before what is in it: children first */
	for (size_t i = a->ndirs; i > 0 && r >= 0; i--) {
		if (extract_report_seek(a->report, a->dirs[i - 1]) < 0 ||
		    extract_report_next(a->report, &told) <= 0)
			return err_fail(a->e, ERR_SYSTEM, EBADMSG, "archive '%s': half a report",
					a->name);
		r = finish_dir(a, &told);
	}
	return r;
}

int extract_apply(struct extract_report *report, int dir_fd, const char *name, uint64_t entries,
		  struct err *e)
{
	autoarena struct arena *arena = arena_new_empty();
	struct apply *a = arena_new(arena, struct apply);
	struct extract_entry told;
	int r;

	*a = (struct apply){
		.name = name, .dir_fd = dir_fd, .parent_fd = -1, .arena = arena, .e = e
	};
	a->report = report;
	do {
		if (extract_report_next(report, &told) <= 0)
			r = err_fail(e, ERR_SYSTEM, EBADMSG, "archive '%s': half a report", name);
		else if (told.kind > EXTRACT_ERROR && entries-- == 0)
			r = refuse_entry(a, told.path, "the archive has more entries than allowed");
		else
			r = told.kind > EXTRACT_ERROR ? apply_entry(a, &told) : 0;
	} while (r >= 0 && told.kind > EXTRACT_ERROR);
	r = r < 0 ? r : finish_dirs(a);
	cleanup_closep(&a->parent_fd);
	return r;
}
