#include "nodeup/move/move.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/proc.h"
#include "nodeup/move/same_tree.h"

enum { LINK_MAX = 4096 };

#define COPY_MAX_NS (3600 * DUR_SEC)

/* Returns a path of an open directory that other programs on this machine can use. */
static int path_of(struct arena *a, int fd, const char **ret, struct err *e)
{
	char *path = arena_alloc(a, LINK_MAX);

	if (readlink(arena_printf(a, "/proc/self/fd/%d", fd), path, LINK_MAX - 1) <= 0)
		return err_sys(e, "find the path of a directory");
	*ret = path;
	return 0;
}

/* Takes the lock. A tool of ours outlives a killed nodeup; it inherits the lock, so the lock is free when the tool
 * has ended. */
static int lock(int fd, const char *aside, struct err *e)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return err_sys(e, "lock '%s'", aside);
	return err_fail(e, ERR_BUSY, EWOULDBLOCK,
			"what a run that was killed began is still at work in '%s'", aside);
}

static int run_tool(const char *const *argv, int lock_fd, struct err *e)
{
	const struct proc_req req = { .argv = argv,
				      .stdin_fd = lock_fd,
				      .timeout_ns = COPY_MAX_NS };

	return proc_run(&req, NULL, e);
}

/* Removes the copy of a killed run. */
static int remove_left(int root_fd, const char *aside, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = -1;
	const char *path;
	int r = io_open_dir(root_fd, aside, &fd, e);

	if (r == -ENOENT)
		return 0;
	if (r == 0)
		r = lock(fd, aside, e);
	if (r == 0)
		r = path_of(a, fd, &path, e);
	return r < 0 ? r
		     : run_tool((const char *const[]){ "rm", "-rf", "--one-file-system", "--", path,
						       NULL },
				fd, e);
}

int copy_tree(int root_fd, const char *source, const char *aside, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int from = -1, to = -1;
	const char *from_path, *to_path;
	int r = io_open_dir(root_fd, source, &from, e);

	if (r == 0)
		r = remove_left(root_fd, aside, e);
	if (r == 0)
		r = io_mkdirs(root_fd, aside, 0700, e);
	if (r == 0)
		r = io_open_dir(root_fd, aside, &to, e);
	if (r == 0)
		r = lock(to, aside, e);
	if (r == 0)
		r = path_of(a, from, &from_path, e);
	if (r == 0)
		r = path_of(a, to, &to_path, e);
	if (r < 0)
		return r;
	/* copies everything: owners, modes, times, links of both kinds, holes, attributes */
	r = run_tool((const char *const[]){ "cp", "-a", "-x", "--sparse=always", "-T", "--",
					    from_path, to_path, NULL },
		     to, e);
	if (r == 0)
		r = same_tree(from, to, e);
	if (r == 0 && syncfs(to) < 0)
		r = err_sys(e, "write '%s' to the disk", aside);
	return r;
}

int copy_tree_place(int root_fd, const char *aside, const char *target, struct err *e)
{
	autoclose int from_dir = -1, to_dir = -1;
	const char *from_name, *to_name;
	int r = io_mkdirs(root_fd, target, 0755, e);

	if (r == 0)
		r = io_open_parent(root_fd, aside, &from_dir, &from_name, e);
	if (r == 0)
		r = io_open_parent(root_fd, target, &to_dir, &to_name, e);
	if (r < 0)
		return r;
	if (renameat(from_dir, from_name, to_dir, to_name) < 0)
		return err_sys(e, "rename the copy to '%s'", target);
	if (fsync(to_dir) < 0 || fsync(from_dir) < 0)
		return err_sys(e, "write '%s' to the disk", target);
	return 0;
}
