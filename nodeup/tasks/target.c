#include "nodeup/tasks/target.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/aside.h"
#include "nodeup/base/flush.h"
#include "nodeup/base/log.h"
#include "nodeup/tasks/selinux.h"

int target_mkdirs(struct task_ctx *ctx, const char *path, mode_t mode, struct err *e)
{
	autofree char *dir = xstrdup(path), *known = xstrdup(path);
	int r;

	/* a directory that is there already keeps its label */
	while (ctx->has_labels && *known && !io_is_there(ctx->root_fd, known))
		*strrchr(known, '/') = '\0';
	r = flush_mkdirs(ctx->flush, ctx->root_fd, path, mode, e);
	for (; r >= 0 && strlen(dir) > strlen(known); *strrchr(dir, '/') = '\0') {
		autoclose int fd = -1;
		struct err ignored;

		if (io_open_own_dir(ctx->root_fd, dir, &fd, &ignored) == 0)
			selinux_set(ctx, dir, fd);
	}
	return r;
}

/* Opens the directory of a path, and makes it if needed. */
static int open_parent(struct task_ctx *ctx, const char *path, int *ret_dir, const char **ret_name,
		       struct err *e)
{
	autofree char *dir = NULL;
	int r = io_open_parent(ctx->root_fd, path, ret_dir, ret_name, e);

	if (r >= 0)
		return r;
	dir = xstrdup(path);
	*strrchr(dir, '/') = '\0';
	r = *dir ? target_mkdirs(ctx, dir, 0755, e) : 0;
	return r < 0 ? r : io_open_parent(ctx->root_fd, path, ret_dir, ret_name, e);
}

/* Moves the object aside, where a person finds it. A mount point stays. */
static int set_aside(struct task_ctx *ctx, const char *path, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *name;

	if (aside_move(a, ctx->root_fd, path, &name, e) < 0) {
		io_say_mounted(path, e);
		return err_wrap(e, "'%s' is in the way: a directory", path);
	}
	if (name)
		log_warning("'%s' is a directory in the place of a file: it is set aside as '%s'",
			    path, name);
	return 0;
}

int target_open(struct task_ctx *ctx, const char *path, int *ret_dir, const char **ret_name,
		struct err *e)
{
	autoclose int dir = -1;
	struct stat st;
	int r = open_parent(ctx, path, &dir, ret_name, e);

	if (r < 0)
		return r;
	/* a runtime that was to mount a missing file has made an empty directory of that name */
	if (fstatat(dir, *ret_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	    unlinkat(dir, *ret_name, AT_REMOVEDIR) < 0)
		r = set_aside(ctx, path, e);
	if (r < 0)
		return r;
	*ret_dir = TAKE_FD(dir);
	return 0;
}

int target_stage(struct task_ctx *ctx, const char *path, struct io_stage *s, struct err *e)
{
	const char *name;
	int dir = -1, r = target_open(ctx, path, &dir, &name, e);

	return r < 0 ? r : io_stage_open_in(dir, path, s, e);
}

int target_copy(int from, int to, const char *path, struct err *e)
{
	struct stat st;
	off_t done = 0;

	if (fstat(from, &st) < 0)
		return err_sys(e, "look at the source of '%s'", path);
	while (done < st.st_size) {
		char chunk[65536];
		ssize_t n = copy_file_range(from, &done, to, NULL, (size_t)(st.st_size - done), 0);
		int r;

		if (n > 0)
			continue;
		if (n < 0 && io_is_full(errno))
			return io_write_failed(to, path, (uint64_t)(st.st_size - done), e);
		/* an old kernel cannot copy between file systems, so this copies by hand */
		n = pread(from, chunk, sizeof(chunk), done);
		if (n <= 0)
			return err_sys(e, "read the source of '%s'", path);
		r = io_write_fd(to, path, chunk, (size_t)n, e);
		if (r < 0) {
			errno = e->errnum;
			return io_write_failed(to, path, (uint64_t)(st.st_size - done), e);
		}
		done += n;
	}
	return 0;
}
