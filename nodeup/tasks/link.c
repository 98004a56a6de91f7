/* Tests: test_program.c. */
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/target.h"

#include <fcntl.h>
#include <unistd.h>

/* Leaves an object that is there already: a person or a package put it there. */
static int link_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	struct stat st;
	int r = io_stat(ctx->root_fd, t->name, &st, e);

	if (r == -ENOENT || r == -ENOTDIR)
		return task_missing(diff, "absent");
	return r < 0 ? r : TASK_EQUAL;
}

static int link_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	autoclose int dir = -1;
	const char *name;
	int r = target_open(ctx, t->name, &dir, &name, e);

	(void)run;
	if (r < 0)
		return r;
	if (symlinkat(t->link.target, dir, name) < 0 && errno != EEXIST)
		return err_sys(e, "link '%s'", t->name);
	return flush_note(ctx->flush, dir, e) < 0 ? err_code(e) : TASK_DONE;
}

const struct task_ops task_link_ops = {
	.kind = "link",
	.brief = true,
	.writes_little = true,
	.stays = true,
	.check = link_check,
	.apply = link_apply,
};
