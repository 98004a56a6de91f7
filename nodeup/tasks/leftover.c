/* Tests: test_leftover.c. */
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/state.h"
#include "units/enable.h"

static const char gone[] = "the documents no longer name it";

/* Reports `how` only in a plan and in a repair, which a person asked for: an apply would repeat it at each boot. */
static int say(const struct task_ctx *ctx, struct task_diff *diff, const char *how)
{
	return ctx->only_looks || ctx->verify ? task_left(diff, "%s; %s", gone, how) : TASK_EQUAL;
}

/* Returns whether the file belongs to a disk that may be in use. Such a disk holds data, so it is never unmounted
 * here. */
static bool is_of_disk(const struct task *t, struct task_ctx *ctx)
{
	autoarena struct arena *a = arena_new_empty();
	const char *unit = t->file.unit;
	struct err ignored;
	struct bus_unit u;

	if (!unit || !(str_has_suffix(unit, ".mount") || str_has_suffix(unit, ".swap")))
		return false;
	return !ctx->bus || bus_get(ctx->bus, a, unit, &u, &ignored) < 0 || bus_unit_is_at_work(&u);
}

static int leftover_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			  struct err *e)
{
	const char *path = t->name;
	struct stat st;
	int r = io_stat(ctx->root_fd, path, &st, e);

	if (r == -ENOENT || r == -ENOTDIR)
		return TASK_EQUAL;
	if (r < 0)
		return r;
	if (!state_wrote(ctx->state, path, &st, false))
		return say(ctx, diff, "it is not as nodeup wrote it: left alone");
	if (is_of_disk(t, ctx))
		return say(ctx, diff, "it mounts a disk: left alone");
	diff->removes = true;
	return ctx->prune ? task_differs(diff, "%s", gone) : say(ctx, diff, "removed with --prune");
}

/* Checks for a unit that would run together with its successor. The unit is removed even without --prune, whoever
 * wrote it. */
static int superseded_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			    struct err *e)
{
	struct stat st;
	int r = io_stat(ctx->root_fd, t->name, &st, e);

	if (r == -ENOENT || r == -ENOTDIR)
		return TASK_EQUAL;
	diff->removes = true;
	return r < 0 ? r : task_differs(diff, "%s", gone);
}

/* The unit is in the plan if the earlier documents put it on the node. */
static int superseded_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			      struct task_diff *diff)
{
	(void)t;
	(void)was;
	(void)ctx;
	diff->removes = true;
	return task_differs(diff, "%s", gone);
}

static int turn_off(const struct task *t, struct task_ctx *ctx, struct task_run *run, struct err *e)
{
	const char *unit = t->file.unit;

	return !unit             ? TASK_DONE
	       : ctx->image_mode ? enable_remove(ctx->root_fd, unit, e)
				 : task_unit_off(ctx, unit, run, e);
}

static int leftover_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			  struct err *e)
{
	struct stat st;
	struct err ignored;
	/* a unit that we masked is off already, and only the next boot starts it again; a unit that has a successor is
	 * turned off, also behind a link */
	const bool is_mask = t->ops == &task_leftover_ops &&
			     io_stat(ctx->root_fd, t->name, &st, &ignored) == 0 &&
			     S_ISLNK(st.st_mode);
	int r = is_mask ? TASK_DONE : turn_off(t, ctx, run, e);

	if (r == TASK_DONE)
		r = io_remove(ctx->root_fd, t->name, e);
	if (r == 0)
		state_forget(ctx->state, t->name);
	return r == 0 && is_mask && ctx->bus ? bus_reload(ctx->bus, e) : r;
}

const struct task_ops task_leftover_ops = {
	.kind = "file",
	.on_main = true,
	.check = leftover_check,
	.apply = leftover_apply,
};

const struct task_ops task_superseded_ops = {
	.kind = "file",
	.on_main = true,
	.check = superseded_check,
	.apply = leftover_apply,
	.compare = superseded_compare,
};
