#include "nodeup/tasks/move.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/proc.h"
#include "nodeup/tasks/same_tree.h"
#include "units/unit.h"

static const char mark_dir[] = ".nodeup";

enum { TABLE_MAX = 4 << 20, LINK_MAX = 4096 };

#define COPY_MAX_NS (3600 * DUR_SEC)

char *move_mark(struct arena *a, const struct task_move *m)
{
	return arena_printf(a, "%s/%s/%s", m->mount_point, mark_dir,
			    unit_escape_path(a, m->source));
}

/* That we began: what is at the target then is ours to remove. */
static char *begun_mark(struct arena *a, const struct task_move *m)
{
	return arena_printf(a, "%s.begun", move_mark(a, m));
}

static struct strv mount_points(const struct task_ctx *ctx, struct arena *a)
{
	autobuf struct buf text = BUF_INIT(TABLE_MAX);
	struct strv points = { 0 }, lines;
	struct err ignored;

	if (io_read(ctx->root_fd, "/proc/self/mountinfo", &text, &ignored) < 0)
		return points;
	lines = strv_split(a, buf_str(&text), '\n');
	for (size_t i = 0; i < lines.n; i++) {
		const struct strv words = strv_split(a, lines.v[i], ' ');

		if (words.n > 4)
			strv_add(a, &points, words.v[4]);
	}
	return points;
}

bool move_is_mounted(const struct task_ctx *ctx, struct arena *a, const char *path)
{
	const struct strv points = mount_points(ctx, a);

	return strv_has(&points, path);
}

static bool is_there(const struct task_ctx *ctx, const char *path)
{
	struct err ignored;
	struct stat st;

	return io_stat(ctx->root_fd, path, &st, &ignored) == 0;
}

bool move_is_done(const struct task_ctx *ctx, struct arena *a, const struct task_move *m)
{
	/* mounted over it already: what is seen there is the target */
	if (move_is_mounted(ctx, a, m->source))
		return true;
	return move_is_mounted(ctx, a, m->mount_point) && is_there(ctx, move_mark(a, m));
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

static int move_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	(void)e;
	if (ctx->image_mode || move_is_done(ctx, a, &t->move))
		return TASK_EQUAL;
	if (move_has_content(ctx, t->move.source))
		return task_differs(diff, "its content is not on %s yet", t->move.mount_point);
	return task_differs(diff, "there is no %s yet", t->move.target);
}

static int open_dir(const struct task_ctx *ctx, const char *path, int *ret_fd, struct err *e)
{
	return io_open(ctx->root_fd, path, O_RDONLY | O_DIRECTORY, ret_fd, e);
}

/* The path of an open directory as a program of this machine calls it. */
static char *path_of(struct arena *a, int fd)
{
	char *path = arena_alloc(a, LINK_MAX);

	return readlink(arena_printf(a, "/proc/self/fd/%d", fd), path, LINK_MAX - 1) > 0 ? path
											 : NULL;
}

static int run_tool(const char *const *argv, struct err *e)
{
	const struct proc_req req = { .argv = argv, .stdin_fd = -1, .timeout_ns = COPY_MAX_NS };

	return proc_run(&req, NULL, e);
}

/* What a run that was killed left of its copy; never anything but what it began. */
static int remove_begun(const struct task_ctx *ctx, const struct task_move *m, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = -1;
	const char *path;
	int r = open_dir(ctx, m->target, &fd, e);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return r;
	path = path_of(a, fd);
	if (!path)
		return err_fail(e, ERR_SYSTEM, ENOENT, "'%s' has no path", m->target);
	return run_tool((const char *const[]){ "rm", "-rf", "--one-file-system", "--", path, NULL },
			e);
}

/* All of it: owners, modes, times, links of both kinds, holes, attributes. */
static int copy(const struct task_ctx *ctx, const struct task_move *m, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int from = -1, to = -1;
	const char *from_path, *to_path;
	int r = open_dir(ctx, m->source, &from, e);

	if (r == 0)
		r = open_dir(ctx, m->target, &to, e);
	if (r < 0)
		return r;
	from_path = path_of(a, from);
	to_path = path_of(a, to);
	if (!from_path || !to_path)
		return err_fail(e, ERR_SYSTEM, ENOENT, "'%s' has no path", m->source);
	r = run_tool((const char *const[]){ "cp", "-a", "-x", "--sparse=always", "-T", "--",
					    from_path, to_path, NULL },
		     e);
	if (r == 0)
		r = same_tree(from, to, e);
	if (r == 0 && syncfs(to) < 0)
		r = err_sys(e, "write '%s' to the disk", m->target);
	return r;
}

static int put_mark(const struct task_ctx *ctx, const struct task_move *m, const char *path,
		    struct err *e)
{
	static const struct io_attr attr = { .mode = 0600 };
	autofree char *text = xasprintf("%s\n", m->source);

	return io_replace(ctx->root_fd, path, text, strlen(text), &attr, e);
}

/* What must hold before anything is written. */
static int may_move(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		    struct err *e)
{
	const char *below = arena_printf(a, "%s/", m->source);
	const char *below_target = arena_printf(a, "%s/", m->target);
	const struct strv points = mount_points(ctx, a);
	const size_t n = strlen(m->mount_point);
	const char *rest = m->target + n;

	if (strncmp(m->target, m->mount_point, n) != 0 || rest[0] != '/' || rest[1] == '\0' ||
	    rest[1] == '.' || strstr(rest, "/.."))
		return err_config(e, "'%s' is no directory of the volume %s", m->target,
				  m->mount_point);
	if (!strv_has(&points, m->mount_point))
		return err_fail(e, ERR_SYSTEM, ENODEV, "%s is not mounted: %s was not moved",
				m->mount_point, m->source);
	for (size_t i = 0; i < points.n; i++) {
		if (str_has_prefix(points.v[i], below))
			return err_fail(e, ERR_SYSTEM, EBUSY,
					"%s is mounted inside it: %s is in use and was not moved",
					points.v[i], m->source);
		/* what is mounted there is another's: it is not emptied for a copy */
		if (strcmp(points.v[i], m->target) == 0 ||
		    str_has_prefix(points.v[i], below_target))
			return err_fail(e, ERR_SYSTEM, EBUSY,
					"%s is mounted where %s would go: it was not moved",
					points.v[i], m->source);
	}
	if (!is_there(ctx, begun_mark(a, m)) && move_has_content(ctx, m->target) &&
	    move_has_content(ctx, m->source))
		return err_fail(e, ERR_REFUSED, EEXIST,
				"both %s and %s have content: neither was touched", m->source,
				m->target);
	return 0;
}

static int move_content(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
			struct err *e)
{
	int r = put_mark(ctx, m, begun_mark(a, m), e);

	if (r == 0)
		r = remove_begun(ctx, m, e);
	if (r == 0)
		r = io_mkdirs(ctx->root_fd, m->target, 0755, e);
	return r < 0 ? r : copy(ctx, m, e);
}

static int move_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct task_move *m = &t->move;
	struct err ignored;
	int r = may_move(ctx, a, m, e);

	(void)run;
	if (r == 0)
		r = io_mkdirs(ctx->root_fd, arena_printf(a, "%s/%s", m->mount_point, mark_dir),
			      0700, e);
	if (r == 0)
		r = io_mkdirs(ctx->root_fd, m->source, 0755, e);
	if (r == 0 && move_has_content(ctx, m->source))
		r = move_content(ctx, a, m, e);
	else if (r == 0)
		r = io_mkdirs(ctx->root_fd, m->target, 0755, e);
	if (r == 0)
		r = put_mark(ctx, m, move_mark(a, m), e);
	if (r < 0)
		return r;
	(void)!move_remove(ctx, begun_mark(a, m), &ignored);
	return TASK_DONE;
}

const struct task_ops task_move_ops = {
	.kind = "move",
	.check = move_check,
	.apply = move_apply,
};
