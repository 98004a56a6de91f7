#include "nodeup/move/move.h"

#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/volumes/mounts.h"

bool step_back_is_on(const struct task_ctx *ctx, const struct task_move *m)
{
	autoarena struct arena *a = arena_new_empty();

	return io_is_there(ctx->root_fd, move_record(a, OWN_UNMOVED_DIR, m));
}

bool step_back_is_due(const struct task_ctx *ctx, const struct task_move *m)
{
	autoarena struct arena *a = arena_new_empty();
	struct tree_stamp now;
	struct mounts all;
	struct err ignored;

	/* if the volume is not mounted, nobody knows its content */
	return mounts_read(ctx->root_fd, a, "self", &all, &ignored) == 0 &&
	       mounts_at(&all, m->mount_point) && !mounts_at(&all, m->source) &&
	       !move_has_mark(ctx, m) && move_has_content(ctx, m->source) &&
	       tree_stamp_at(ctx->root_fd, m->source, &now, &ignored) == 0 &&
	       !move_is_recorded(ctx, m, &now);
}

int step_back_put(const struct task_ctx *ctx, const struct task_move *m, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	return record_write(ctx->root_fd, move_record(a, OWN_UNMOVED_DIR, m), 0644,
			    "what is here was not moved: its mount waits\n", e);
}

int step_back_remove(const struct task_ctx *ctx, const struct task_move *m, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	return step_back_is_on(ctx, m)
		       ? io_remove(ctx->root_fd, move_record(a, OWN_UNMOVED_DIR, m), e)
		       : 0;
}
