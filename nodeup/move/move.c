#include "nodeup/move/move.h"

#include <string.h>
#include "nodeup/base/print.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/volumes/mounts.h"

static int check_records(const struct task_ctx *ctx, const struct task_move *m,
			 struct task_diff *diff)
{
	if (move_is_forgotten(ctx, m))
		return task_differs(diff, "that it was moved is not on record");
	if (step_back_is_on(ctx, m))
		return task_differs(diff, "its mount still waits for the move");
	return TASK_EQUAL;
}

static int move_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	int r;

	if (ctx->image_mode)
		return TASK_EQUAL;
	r = move_inspect(ctx, a, &t->move, e);
	if (r < 0)
		return r;
	if (r == MOVE_DONE)
		return check_records(ctx, &t->move, diff);
	if (move_is_of_long_ago(ctx, &t->move))
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

	/* does not make the mark's directory: if it is missing, the volume is not mounted any more */
	return io_replace(ctx->root_fd, move_mark(a, m), text, strlen(text), &attr, e);
}

/* Moves the content. Trusts the copy only if no process used the source meanwhile. */
static int move_content(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
			struct task_run *run, struct tree_stamp *ret, struct err *e)
{
	const bool was_killed = move_has_content(ctx, m->target);
	struct tree_stamp after;
	int r = tree_stamp_at(ctx->root_fd, m->source, ret, e);

	if (r == 0)
		r = was_killed ? move_is_copied(ctx, m, e)
			       : copy_tree(ctx->root_fd, m->source, move_staging(a, m), e);
	if (r == 0)
		r = move_users_wait(ctx, a, m, run, e);
	if (r == 0)
		r = tree_stamp_at(ctx->root_fd, m->source, &after, e);
	if (r != 0)
		return r;
	if (!tree_stamp_eq(ret, &after))
		return err_fail(e, ERR_BUSY, EAGAIN, "%s was written to while it was copied",
				m->source);
	return was_killed ? 0 : copy_tree_place(ctx->root_fd, move_staging(a, m), m->target, e);
}

/* Begins with an empty directory. The old files stay below the mount: an image of this machine brings them along. */
static int begin_empty(const struct task_ctx *ctx, const struct task_move *m, struct task_run *run,
		       struct tree_stamp *ret, struct err *e)
{
	int r = tree_stamp_at(ctx->root_fd, m->source, ret, e);

	if (r == 0 && !move_is_recorded(ctx, m, ret))
		r = err_fail(e, ERR_BUSY, EAGAIN, "%s was written to just now", m->source);
	if (r == 0)
		r = io_mkdirs(ctx->root_fd, m->target, 0755, e);
	if (r == 0)
		(void)print_to(run->remark, sizeof(run->remark), "begins empty");
	return r;
}

static int check_volume_is_here(const struct task_ctx *ctx, struct arena *a,
				const struct task_move *m, struct err *e)
{
	struct mounts all;
	int r = mounts_read(ctx->root_fd, a, "self", &all, e);

	if (r < 0 || mounts_at(&all, m->mount_point))
		return r;
	return err_fail(e, ERR_SYSTEM, ENODEV, "%s is not mounted: %s was not moved",
			m->mount_point, m->source);
}

static int move(const struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		struct task_run *run, struct err *e)
{
	const bool has_content = move_has_content(ctx, m->source);
	struct tree_stamp stamp = { 0 };
	int r = check_volume_is_here(ctx, a, m, e);

	if (r == 0)
		r = io_mkdirs(ctx->root_fd, move_mark_dir(a, m), 0700, e);
	if (r == 0)
		r = io_mkdirs(ctx->root_fd, m->source, 0755, e);
	if (r == 0 && has_content)
		r = move_users_wait(ctx, a, m, run, e);
	/* from here on no service starts on the source, however this run ends */
	if (r == 0)
		r = step_back_remove(ctx, m, e);
	if (r != 0)
		return r;
	/* removes the staged mark of a killed run */
	(void)io_stage_sweep(ctx->root_fd, move_mark_dir(a, m));
	if (move_is_of_long_ago(ctx, m))
		r = begin_empty(ctx, m, run, &stamp, e);
	else if (has_content)
		r = move_content(ctx, a, m, run, &stamp, e);
	else
		r = io_mkdirs(ctx->root_fd, m->target, 0755, e);
	return r != 0 ? r : put_mark(ctx, a, m, &stamp, e);
}

static int move_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	int r = move_inspect(ctx, a, &t->move, e);

	if (r == MOVE_TO_DO)
		r = move(ctx, a, &t->move, run, e);
	else if (r == MOVE_DONE)
		r = step_back_remove(ctx, &t->move, e);
	/* written after the mark: if a run is killed before this, the next run finds the mark */
	return r != 0 ? r : move_remember(ctx, &t->move, e);
}

/* Refuses to start a mount over the source that would hide content which the volume lacks. */
static int move_may_start(const struct task *t, const struct task *unit, struct task_ctx *ctx,
			  struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	int r;

	if (!str_eq(unit->unit.where, t->move.source))
		return 0;
	r = move_inspect(ctx, a, &t->move, e);
	if (r == MOVE_TO_DO)
		return err_fail(e, ERR_BUSY, EAGAIN, "%s is not moved yet", t->move.source);
	return r < 0 ? r : 0;
}

const struct task_ops task_move_ops = {
	.kind = "move",
	.is_preflight = true,
	.check = move_check,
	.apply = move_apply,
	.compare = baseline_once,
	.may_start = move_may_start,
};
