/* Tests: test_tasks.c. */
#include "nodeup/tasks/kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "nodeup/base/walk.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/target.h"

/* A search for files that a directory may not hold. */
struct search {
	const struct task *task;
	struct arena *arena;
	bool removes;
	size_t n;
	const char *first;
};

static int look(void *arg, const struct walk_at *at, struct err *e)
{
	struct search *s = arg;
	const char *path = arena_printf(s->arena, "%s%s/%s", s->task->name, at->path, at->name);

	if (S_ISDIR(at->st.st_mode))
		return 1;
	if (strv_has(s->task->dir.only, path))
		return 0;
	if (s->n++ == 0)
		s->first = path;
	if (!s->removes || unlinkat(at->dir, at->name, 0) == 0 || errno == ENOENT)
		return 0;
	return err_sys(e, "remove '%s'", path);
}

/* Searches for files, not folders: readers of such a directory skip an empty folder. */
static int search_dir(struct search *s, struct task_ctx *ctx, struct err *e)
{
	const struct walk walk = { .enter = look, .arg = s, .live = true };
	autoclose int fd = -1;
	int r = io_open(ctx->root_fd, s->task->name, O_RDONLY | O_DIRECTORY, &fd, e);

	return r < 0 ? r : walk_below(fd, &walk, e);
}

static int check_others(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct search s = { .task = t, .arena = a };
	int r = t->dir.only ? search_dir(&s, ctx, e) : 0;

	if (r < 0)
		return r;
	return s.n ? task_differs(diff, "holds %s, which is not asked for", s.first) : TASK_EQUAL;
}

static int remove_others(const struct task *t, struct task_ctx *ctx, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct search s = { .task = t, .arena = a, .removes = true };

	return t->dir.only ? search_dir(&s, ctx, e) : 0;
}

static int dir_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		     struct err *e)
{
	struct stat st;
	uid_t uid;
	gid_t gid;
	int r = target_owner(ctx, t->dir.owner, &uid, &gid, e);

	if (r == -ENOENT)
		return TASK_EQUAL;
	if (r >= 0)
		r = io_stat(ctx->root_fd, t->name, &st, e);
	if (r == -ENOENT)
		return task_missing(diff, "absent");
	if (r < 0)
		return r;
	/* a user's own link may lead anywhere, so it stays */
	if (S_ISLNK(st.st_mode) && t->dir.owner)
		return TASK_EQUAL;
	if (S_ISLNK(st.st_mode)) {
		autoclose int fd = -1;

		/* a link to a directory will do: an admin moved it to a larger disk */
		r = io_open(ctx->root_fd, t->name, O_PATH | O_DIRECTORY, &fd, e);
		if (r < 0)
			return r;
		if (fstat(fd, &st) < 0)
			return err_sys(e, "look at '%s'", t->name);
	}
	if (!S_ISDIR(st.st_mode) && t->dir.owner)
		return task_left(diff, "%s's own, and not a directory: left alone", t->dir.owner);
	if (!S_ISDIR(st.st_mode))
		return err_fail(e, ERR_SYSTEM, ENOTDIR, "'%s' is in the way: not a directory",
				t->name);
	if ((st.st_mode & 07777) != t->dir.mode)
		return task_differs(diff, "mode %04o, want %04o", st.st_mode & 07777, t->dir.mode);
	if (!t->dir.any_owner && (st.st_uid != uid || st.st_gid != gid))
		return task_differs(diff, "owner %u:%u, want %u:%u", st.st_uid, st.st_gid, uid,
				    gid);
	return check_others(t, ctx, diff, e);
}

static int dir_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		     struct err *e)
{
	autoclose int fd = -1;
	uid_t uid;
	gid_t gid;
	int r = target_owner(ctx, t->dir.owner, &uid, &gid, e);

	(void)run;
	if (r < 0)
		return r;
	r = target_mkdirs(ctx, t->name, t->dir.mode, e);
	if (r < 0)
		return r;
	r = t->dir.owner ? io_open_own_dir(ctx->root_fd, t->name, &fd, e)
			 : io_open(ctx->root_fd, t->name, O_RDONLY | O_DIRECTORY, &fd, e);
	if (r < 0)
		return r;
	if (fchmod(fd, t->dir.mode) < 0)
		return err_sys(e, "set the mode of '%s'", t->name);
	if (!t->dir.any_owner && fchown(fd, uid, gid) < 0)
		return err_sys(e, "set the owner of '%s'", t->name);
	r = remove_others(t, ctx, e);
	return r < 0 ? r : TASK_DONE;
}

static int dir_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
		       struct task_diff *diff)
{
	(void)ctx;
	if (!was && t->dir.owner)
		return baseline_of_user(t->dir.owner, diff);
	if (!was)
		return task_missing(diff, "absent");
	if (was->dir.mode != t->dir.mode)
		return task_differs(diff, "mode %04o, want %04o", was->dir.mode, t->dir.mode);
	for (size_t i = 0; t->dir.only && was->dir.only && i < was->dir.only->n; i++)
		if (!strv_has(t->dir.only, was->dir.only->v[i]))
			return task_differs(diff, "holds %s, which is not asked for",
					    was->dir.only->v[i]);
	return str_eq(was->dir.owner, t->dir.owner) || !t->dir.owner
		       ? TASK_EQUAL
		       : task_differs(diff, "owner %s, want %s",
				      was->dir.owner ? was->dir.owner : "root", t->dir.owner);
}

const struct task_ops task_dir_ops = {
	.kind = "dir",
	.brief = true,
	.writes_little = true,
	.stays = true,
	.check = dir_check,
	.apply = dir_apply,
	.compare = dir_compare,
};
