#include "nodeup/tasks/move.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/tasks/copy_tree.h"
#include "nodeup/tasks/moved.h"
#include "nodeup/tasks/same_tree.h"
#include "nodeup/tasks/tree_stamp.h"
#include "nodeup/volumes/mounts.h"
#include "nodeup/volumes/users.h"
#include "units/unit.h"

static const char mark_dir[] = ".nodeup";

enum { MARK_MAX = 16 * 1024 };

/* how long a program that is being stopped may take to let go */
#define PATIENCE_NS (60 * DUR_SEC)
#define LOOK_AGAIN_NS (500 * DUR_MS)

char *move_mark(struct arena *a, const struct task_move *m)
{
	return arena_printf(a, "%s/%s/%s@%s", m->mount_point, mark_dir,
			    unit_escape_path(a, m->source), m->machine ? m->machine : "unknown");
}

/* Where a copy is made: nobody but us has anything there. */
static char *staging(struct arena *a, const struct task_move *m)
{
	return arena_printf(a, "%s.copy", move_mark(a, m));
}

static bool is_there(const struct task_ctx *ctx, const char *path)
{
	struct err ignored;
	struct stat st;

	return io_stat(ctx->root_fd, path, &st, &ignored) == 0;
}

bool move_has_content(const struct task_ctx *ctx, const char *path)
{
	autoclose int fd = -1;
	autodir DIR *dir = NULL;
	struct dirent *entry;
	struct err ignored;

	if (io_open(ctx->root_fd, path, O_RDONLY | O_DIRECTORY, &fd, &ignored) < 0)
		return false;
	dir = fdopendir(fd);
	if (!dir)
		return false;
	(void)TAKE_FD(fd);
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			return true;
	return false;
}

int move_remove(const struct task_ctx *ctx, const char *path, struct err *e)
{
	autoclose int dir = -1;
	const char *name;
	int r = io_open_parent(ctx->root_fd, path, &dir, &name, e);

	if (r < 0)
		return r;
	if (unlinkat(dir, name, 0) < 0 && errno != ENOENT)
		return err_sys(e, "remove '%s'", path);
	return 0;
}

static int open_dir(const struct task_ctx *ctx, const char *path, int *ret_fd, struct err *e)
{
	return io_open(ctx->root_fd, path, O_RDONLY | O_DIRECTORY, ret_fd, e);
}

static int stamp_of(const struct task_ctx *ctx, const char *path, struct tree_stamp *ret,
		    struct err *e)
{
	autoclose int fd = -1;
	int r = open_dir(ctx, path, &fd, e);

	return r < 0 ? r : tree_stamp(fd, ret, e);
}

/* A mount needs a directory of its own: of a link nobody knows whose content it shows. */
static int check_source(const struct task_ctx *ctx, const struct task_move *m, struct err *e)
{
	struct err ignored;
	struct stat st;

	if (io_stat(ctx->root_fd, m->source, &st, &ignored) < 0 || S_ISDIR(st.st_mode))
		return 0;
	return err_fail(
		e, ERR_REFUSED, ENOTDIR,
		"%s is %s and no directory: nothing was moved, and nothing is mounted there",
		m->source, S_ISLNK(st.st_mode) ? "a symbolic link" : "a file");
}

/* What is seen there must be the directory of the volume, not another disk's. */
static int check_mounted(struct arena *a, const struct mounts *all, const struct task_move *m,
			 const struct mount *there, struct err *e)
{
	const struct mount *volume = mounts_at(all, m->mount_point);
	const char *want = volume ? mounts_inner(a, volume, m->target)
				  : m->target + strlen(m->mount_point);

	if (strcmp(there->root, want) == 0 && (!volume || strcmp(there->dev, volume->dev) == 0))
		return MOVE_DONE;
	(void)err_fail(e, ERR_REFUSED, EBUSY,
		       "%s is in use: another disk is mounted there; nothing was moved", m->source);
	err_note(e, "has", "'%s' of %s (%s)", there->root, there->source, there->dev);
	err_note(e, "want", "%s", m->target);
	return -EBUSY;
}

/* What was moved is left as it was; anything else came later, and the volume does not have it. */
static int check_left(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		      struct err *e)
{
	autobuf struct buf mark = BUF_INIT(MARK_MAX);
	struct tree_stamp now;
	int r;

	if (!move_has_content(ctx, m->source))
		return MOVE_DONE;
	r = stamp_of(ctx, m->source, &now, e);
	if (r == 0)
		r = io_read(ctx->root_fd, move_mark(a, m), &mark, e);
	if (r < 0)
		return r;
	if (now.files == 0 ||
	    strstr(buf_str(&mark), arena_printf(a, "\n%s\n", tree_stamp_text(a, &now))))
		return MOVE_DONE;
	(void)err_fail(e, ERR_REFUSED, EEXIST,
		       "%s was written to since it was moved to %s: neither was touched", m->source,
		       m->target);
	err_note(e, "do", "keep what you need of both, then empty %s", m->source);
	return -EEXIST;
}

/* A volume of somebody's who mounted it there: a folder of it would show none of what it holds. */
static int check_volume(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
			struct err *e)
{
	autodir DIR *dir = NULL;
	autoclose int fd = -1;
	const char *found = NULL;
	struct dirent *entry;
	int r = open_dir(ctx, m->mount_point, &fd, e);

	if (r < 0)
		return r;
	dir = fdopendir(fd);
	if (!dir)
		return err_sys(e, "read '%s'", m->mount_point);
	(void)TAKE_FD(fd);
	while (!found && (entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
		    strcmp(entry->d_name, "lost+found") != 0 &&
		    strcmp(entry->d_name, mark_dir) != 0)
			found = arena_str(a, entry->d_name);
	/* the first thing that we make there, whichever of several moves it is */
	if (!found || is_there(ctx, arena_printf(a, "%s/%s", m->mount_point, mark_dir)))
		return MOVE_TO_DO;
	(void)err_fail(e, ERR_REFUSED, EEXIST,
		       "the volume for %s has content that would not be seen there: nothing was "
		       "moved",
		       m->source);
	err_note(e, "has", "'%s' and maybe more, seen at %s", found, m->mount_point);
	err_note(e, "do", "move it to %s, and make an empty directory %s/%s", m->target,
		 m->mount_point, mark_dir);
	return -EEXIST;
}

int move_look(const struct task_ctx *ctx, struct arena *a, const struct task_move *m, struct err *e)
{
	const struct mount *there;
	struct mounts all;
	int r = check_source(ctx, m, e);

	if (r == 0)
		r = mounts_read(ctx->root_fd, a, "self", &all, e);
	if (r < 0)
		return r;
	there = mounts_at(&all, m->source);
	if (there)
		return check_mounted(a, &all, m, there, e);
	if (!mounts_at(&all, m->mount_point))
		return MOVE_TO_DO;
	if (!is_there(ctx, move_mark(a, m)))
		return m->aside ? check_volume(ctx, a, m, e) : MOVE_TO_DO;
	return check_left(ctx, a, m, e);
}

/* What a disk had that is empty or another now: the first boot's files, long since changed there. */
static bool is_of_long_ago(const struct task_ctx *ctx, const struct task_move *m)
{
	struct tree_stamp now;
	struct err ignored;

	return !move_has_content(ctx, m->target) && stamp_of(ctx, m->source, &now, &ignored) == 0 &&
	       moved_before(ctx, m, &now);
}

static int move_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	int r;

	if (ctx->image_mode)
		return TASK_EQUAL;
	r = move_look(ctx, a, &t->move, e);
	if (r < 0)
		return r;
	if (r == MOVE_DONE)
		return moved_is_forgotten(ctx, &t->move)
			       ? task_differs(diff, "that it was moved is not on record")
			       : TASK_EQUAL;
	if (is_of_long_ago(ctx, &t->move))
		return task_differs(diff, "it begins empty: its content was moved once, to a disk "
					  "that is not this one");
	if (move_has_content(ctx, t->move.source))
		return task_differs(diff, "its content is not on %s yet", t->move.mount_point);
	return task_differs(diff, "there is no %s yet", t->move.target);
}

static int put_mark(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		    const struct tree_stamp *stamp, struct err *e)
{
	static const struct io_attr attr = { .mode = 0600 };
	const char *text = arena_printf(a, "%s\n%s\n", m->source, tree_stamp_text(a, stamp));

	return io_replace(ctx->root_fd, move_mark(a, m), text, strlen(text), &attr, e);
}

static int check_target(const struct task_move *m, struct err *e)
{
	const size_t n = strlen(m->mount_point);
	const char *rest = m->target + n;

	if (strncmp(m->target, m->mount_point, n) != 0 || rest[0] != '/' || rest[1] == '\0' ||
	    rest[1] == '.' || strstr(rest, "/.."))
		return err_config(e, "'%s' is no directory of the volume %s", m->target,
				  m->mount_point);
	return 0;
}

/* What must hold before anything is written. */
static int may_move(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		    struct err *e)
{
	struct mounts all;
	int r = check_target(m, e);

	if (r == 0)
		r = mounts_read(ctx->root_fd, a, "self", &all, e);
	if (r < 0)
		return r;
	if (!mounts_at(&all, m->mount_point))
		return err_fail(e, ERR_SYSTEM, ENODEV, "%s is not mounted: %s was not moved",
				m->mount_point, m->source);
	for (size_t i = 0; i < all.n; i++)
		/* what is mounted there is another's */
		if (mounts_is_within(all.v[i].point, m->target))
			return err_fail(e, ERR_SYSTEM, EBUSY,
					"%s is mounted where %s would go: it was not moved",
					all.v[i].point, m->source);
	return 0;
}

/* A run that was killed before it put its mark left exactly the copy. */
static int is_copied(const struct task_ctx *ctx, const struct task_move *m, struct err *e)
{
	autoclose int from = -1, to = -1;
	struct err differs;
	int r = open_dir(ctx, m->source, &from, e);

	if (r == 0)
		r = open_dir(ctx, m->target, &to, e);
	if (r < 0 || same_tree(from, to, &differs) == 0)
		return r;
	(void)err_fail(e, ERR_REFUSED, EEXIST, "both %s and %s have content: neither was touched",
		       m->source, m->target);
	err_note(e, "got", "%s", differs.msg);
	err_note(e, "do", "keep what you need of both, then empty one of them");
	return -EEXIST;
}

/* Nobody may write to what is copied: who was stopped gets some time to let go. */
static int wait_for_users(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
			  struct task_run *run, struct err *e)
{
	const char *who;
	int r = users_of(ctx->root_fd, a, m->source, &who, e);

	if (r < 0 || !who)
		return r;
	if (!run->since_ns || dur_now() - run->since_ns < PATIENCE_NS)
		return task_wait(run, dur_now() + LOOK_AGAIN_NS, "%s", who);
	run->final = true;
	return err_fail(e, ERR_BUSY, EBUSY, "%s: %s is in use and was not moved", who, m->source);
}

/* Copy while nobody uses it, and believe the copy only if nobody did. */
static int move_content(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
			struct task_run *run, struct tree_stamp *ret, struct err *e)
{
	const bool was_killed = move_has_content(ctx, m->target);
	struct tree_stamp after;
	int r = wait_for_users(ctx, a, m, run, e);

	if (r == 0)
		r = stamp_of(ctx, m->source, ret, e);
	if (r == 0)
		r = was_killed ? is_copied(ctx, m, e)
			       : copy_tree(ctx->root_fd, m->source, staging(a, m), e);
	if (r == 0)
		r = wait_for_users(ctx, a, m, run, e);
	if (r == 0)
		r = stamp_of(ctx, m->source, &after, e);
	if (r != 0)
		return r;
	if (!tree_stamp_eq(ret, &after))
		return err_fail(e, ERR_BUSY, EAGAIN, "%s was written to while it was copied",
				m->source);
	return was_killed ? 0 : copy_tree_place(ctx->root_fd, staging(a, m), m->target, e);
}

/* What is there stays, below the mount: an image of this machine brings it along. */
static int begin_empty(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		       struct task_run *run, struct tree_stamp *ret, struct err *e)
{
	int r = wait_for_users(ctx, a, m, run, e);

	if (r == 0)
		r = stamp_of(ctx, m->source, ret, e);
	if (r == 0)
		r = io_mkdirs(ctx->root_fd, m->target, 0755, e);
	if (r == 0)
		(void)snprintf(run->remark, sizeof(run->remark), "begins empty");
	return r;
}

static int move(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		struct task_run *run, struct err *e)
{
	struct tree_stamp stamp = { 0 };
	int r = may_move(ctx, a, m, e);

	if (r == 0)
		r = io_mkdirs(ctx->root_fd, arena_printf(a, "%s/%s", m->mount_point, mark_dir),
			      0700, e);
	if (r == 0)
		r = io_mkdirs(ctx->root_fd, m->source, 0755, e);
	if (r < 0)
		return r;
	if (is_of_long_ago(ctx, m))
		r = begin_empty(ctx, a, m, run, &stamp, e);
	else if (move_has_content(ctx, m->source))
		r = move_content(ctx, a, m, run, &stamp, e);
	else
		r = io_mkdirs(ctx->root_fd, m->target, 0755, e);
	return r != 0 ? r : put_mark(ctx, a, m, &stamp, e);
}

static int move_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	int r = move_look(ctx, a, &t->move, e);

	if (r == MOVE_TO_DO)
		r = move(ctx, a, &t->move, run, e);
	else if (r == MOVE_DONE)
		r = 0;
	/* after the mark: what a killed run did not remember the next one finds there */
	return r != 0 ? r : moved_remember(ctx, &t->move, e);
}

const struct task_ops task_move_ops = {
	.kind = "move",
	.check = move_check,
	.apply = move_apply,
};
