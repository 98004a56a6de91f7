#include "nodeup/move/move.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>
#include "nodeup/base/walk.h"
#include "nodeup/move/same_tree.h"
#include "nodeup/volumes/mounts.h"

enum { MARK_MAX = 16 * 1024 };

bool move_has_content(const struct task_ctx *ctx, const char *path)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv names;
	struct err e;

	if (walk_names_at(a, ctx->root_fd, path, &names, &e) < 0)
		/* a directory that cannot be read may have entries */
		return e.errnum != ENOENT && e.errnum != ENOTDIR;
	return names.n > 0;
}

bool move_has_mark(const struct task_ctx *ctx, const struct task_move *m)
{
	autoarena struct arena *a = arena_new_empty();

	return io_is_there(ctx->root_fd, move_mark(a, m));
}

/* Fails if the source is no directory: through a link a mount might hide any content. */
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

/* Checks that the path leads to the volume's directory, and not to another disk's. */
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

/* Checks the old content after a move. Moved files stay unchanged. Any other file came later, so the volume lacks
 * it. */
static int check_left(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		      struct err *e)
{
	autobuf struct buf mark = BUF_INIT(MARK_MAX);
	struct tree_stamp now;
	int r;

	if (!move_has_content(ctx, m->source))
		return MOVE_DONE;
	r = tree_stamp_at(ctx->root_fd, m->source, &now, e);
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

/* Refuses a volume with other content: another program mounted it here, and only a folder of it would be visible at
 * that place afterwards. */
static int check_volume(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
			struct err *e)
{
	const char *found = NULL;
	struct strv names;
	int r = walk_names_at(a, ctx->root_fd, m->mount_point, &names, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < names.n && !found; i++)
		if (strcmp(names.v[i], "lost+found") != 0 &&
		    strcmp(names.v[i], MOVE_MARK_NAME) != 0)
			found = names.v[i];
	/* nodeup makes this directory first, so if it exists, the volume is ours; several moves share it */
	if (!found || io_is_there(ctx->root_fd, move_mark_dir(a, m)))
		return MOVE_TO_DO;
	(void)err_fail(e, ERR_REFUSED, EEXIST,
		       "the volume for %s has content that would not be seen there: nothing was "
		       "moved",
		       m->source);
	err_note(e, "has", "'%s' and maybe more, seen at %s", found, m->mount_point);
	err_note(e, "do", "move it to %s, and make an empty directory %s/%s", m->target,
		 m->mount_point, MOVE_MARK_NAME);
	return -EEXIST;
}

static int check_target(const struct task_move *m, struct err *e)
{
	const size_t n = strlen(m->mount_point);
	const char *rest = m->target + n;

	if (strncmp(m->target, m->mount_point, n) != 0 || rest[0] != '/' || rest[1] == '\0' ||
	    rest[1] == '.' || strstr(rest, "/.."))
		return err_config(e, "'%s' is not a directory of the volume %s", m->target,
				  m->mount_point);
	return 0;
}

/* Refuses a target where another program mounted something. */
static int check_free(const struct mounts *all, const struct task_move *m, struct err *e)
{
	for (size_t i = 0; i < all->n; i++)
		if (str_is_within(all->v[i].point, m->target))
			return err_fail(e, ERR_SYSTEM, EBUSY,
					"%s is mounted where %s would go: it was not moved",
					all->v[i].point, m->source);
	return 0;
}

/* Checks for the copy of a run that was killed before it wrote its mark: such a copy is exact. */
int move_is_copied(const struct task_ctx *ctx, const struct task_move *m, struct err *e)
{
	autoclose int from = -1, to = -1;
	struct err differs;
	int r = io_open_dir(ctx->root_fd, m->source, &from, e);

	if (r == 0)
		r = io_open_dir(ctx->root_fd, m->target, &to, e);
	if (r < 0 || same_tree(from, to, &differs) == 0)
		return r;
	(void)err_fail(e, ERR_REFUSED, EEXIST, "both %s and %s have content: neither was touched",
		       m->source, m->target);
	err_note(e, "got", "%s", differs.msg);
	err_note(e, "do", "keep what you need of both, then empty one of them");
	return -EEXIST;
}

bool move_is_of_long_ago(const struct task_ctx *ctx, const struct task_move *m)
{
	struct tree_stamp now;
	struct err ignored;

	return !move_has_content(ctx, m->target) &&
	       tree_stamp_at(ctx->root_fd, m->source, &now, &ignored) == 0 &&
	       move_is_recorded(ctx, m, &now);
}

/* Compares the room on the volume with the least that a copy needs. Refuses the move if the room is too small: it
 * would fail later anyway. */
static int check_room(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		      struct err *e)
{
	struct tree_stamp need, left = { 0 };
	autoclose int fd = -1;
	struct err ignored;
	struct statvfs fs;
	uint64_t bytes, inodes;
	int r = tree_stamp_at(ctx->root_fd, m->source, &need, e);

	if (r == 0)
		r = io_open_dir(ctx->root_fd, m->mount_point, &fd, e);
	if (r < 0)
		return r;
	if (fstatvfs(fd, &fs) < 0)
		return err_sys(e, "look at '%s'", m->mount_point);
	/* leftovers of a killed run will be removed first, so their room counts as free */
	(void)!tree_stamp_at(ctx->root_fd, move_staging(a, m), &left, &ignored);
	bytes = fs.f_bavail * (uint64_t)fs.f_frsize + left.disk_bytes;
	/* file systems without a table of inodes report 0 */
	inodes = fs.f_favail + left.inodes;
	if (need.disk_bytes <= bytes && (fs.f_files == 0 || need.inodes <= inodes))
		return MOVE_TO_DO;
	(void)err_fail(e, ERR_REFUSED, ENOSPC, "%s has no room for what %s has: nothing was moved",
		       m->mount_point, m->source);
	err_note(e, "want", "%" PRIu64 " bytes, %" PRIu64 " inodes", need.disk_bytes, need.inodes);
	err_note(e, "free", "%" PRIu64 " bytes, %" PRIu64 " inodes", bytes, inodes);
	err_note(e, "do", "give it a larger volume, or empty %s", m->source);
	return -ENOSPC;
}

/* Checks all that can be known before services are stopped. */
static int check_copy(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		      struct err *e)
{
	if (!move_has_content(ctx, m->source) || move_is_of_long_ago(ctx, m))
		return MOVE_TO_DO;
	return move_has_content(ctx, m->target) ? move_is_copied(ctx, m, e)
						: check_room(ctx, a, m, e);
}

int move_inspect(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		 struct err *e)
{
	const struct mount *there;
	struct mounts all;
	int r = check_source(ctx, m, e);

	if (r == 0)
		r = check_target(m, e);
	if (r == 0)
		r = mounts_read(ctx->root_fd, a, "self", &all, e);
	if (r < 0)
		return r;
	there = mounts_at(&all, m->source);
	if (there)
		return check_mounted(a, &all, m, there, e);
	if (!mounts_at(&all, m->mount_point))
		return MOVE_TO_DO;
	if (move_has_mark(ctx, m))
		return check_left(ctx, a, m, e);
	r = check_free(&all, m, e);
	if (r == 0 && m->aside)
		r = check_volume(ctx, a, m, e);
	return r < 0 ? r : check_copy(ctx, a, m, e);
}
