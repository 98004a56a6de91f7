#include "nodeup/tasks/kinds.h"

/* Attaching comes before there is a plan; this is what it came to, or for `nodeup plan` would. */
static int attach_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	(void)ctx;
	(void)e;
	return t->attach.is_here ? TASK_EQUAL : task_differs(diff, "%s", t->attach.why);
}

static int attach_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	(void)ctx;
	run->final = true;
	return err_fail(e, ERR_BUSY, EAGAIN, "%s", t->attach.why);
}

const struct task_ops task_attach_ops = {
	.kind = "attach",
	.check = attach_check,
	.apply = attach_apply,
};
