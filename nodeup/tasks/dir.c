#include "nodeup/tasks/kinds.h"

#include <fcntl.h>
#include <unistd.h>
#include "nodeup/tasks/owner.h"

static int dir_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		     struct err *e)
{
	struct stat st;
	uid_t uid;
	gid_t gid;
	int r = owner_find(ctx, t->dir.owner, &uid, &gid, e);

	if (r == -ENOENT)
		return TASK_EQUAL;
	if (r >= 0)
		r = io_stat(ctx->root_fd, t->dir.path, &st, e);
	if (r == -ENOENT)
		return task_missing(diff, "absent");
	if (r < 0)
		return r;
	/* a user's own link may lead anywhere: it is left alone */
	if (S_ISLNK(st.st_mode) && t->dir.owner)
		return TASK_EQUAL;
	if (S_ISLNK(st.st_mode)) {
		autoclose int fd = -1;

		/* a link to a directory serves as one: an admin moved it to a bigger disk */
		r = io_open(ctx->root_fd, t->dir.path, O_PATH | O_DIRECTORY, &fd, e);
		if (r < 0)
			return r;
		if (fstat(fd, &st) < 0)
			return err_sys(e, "look at '%s'", t->dir.path);
	}
	if (!S_ISDIR(st.st_mode) && t->dir.owner)
		return task_left(diff, "%s's own, and not a directory: left alone", t->dir.owner);
	if (!S_ISDIR(st.st_mode))
		return err_fail(e, ERR_SYSTEM, ENOTDIR, "'%s' is in the way: not a directory",
				t->dir.path);
	if ((st.st_mode & 07777) != t->dir.mode)
		return task_differs(diff, "mode %04o, want %04o", st.st_mode & 07777, t->dir.mode);
	if (t->dir.owner && (st.st_uid != uid || st.st_gid != gid))
		return task_differs(diff, "owner %u:%u, want %u:%u", st.st_uid, st.st_gid, uid,
				    gid);
	return TASK_EQUAL;
}

static int dir_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		     struct err *e)
{
	autoclose int fd = -1;
	uid_t uid;
	gid_t gid;
	int r = owner_find(ctx, t->dir.owner, &uid, &gid, e);

	(void)run;
	if (r < 0)
		return r;
	r = flush_mkdirs(ctx->flush, ctx->root_fd, t->dir.path, t->dir.mode, e);
	if (r < 0)
		return r;
	r = t->dir.owner ? io_open_own_dir(ctx->root_fd, t->dir.path, &fd, e)
			 : io_open(ctx->root_fd, t->dir.path, O_RDONLY | O_DIRECTORY, &fd, e);
	if (r < 0)
		return r;
	if (fchmod(fd, t->dir.mode) < 0)
		return err_sys(e, "set the mode of '%s'", t->dir.path);
	if (t->dir.owner && fchown(fd, uid, gid) < 0)
		return err_sys(e, "set the owner of '%s'", t->dir.path);
	return TASK_DONE;
}

const struct task_ops task_dir_ops = {
	.kind = "dir",
	.check = dir_check,
	.apply = dir_apply,
};
