/* Tests: test_image_ctr.c. */
#include "nodeup/tasks/kinds.h"

#include "nodeup/tasks/image_ctr.h"
#include "nodeup/tasks/images.h"

/* An existing image is right, whatever its registry has under that name by now. */
static int pull_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	char id[IMAGE_ID_MAX];
	struct err why;
	int r;

	(void)e;
	if (ctx->image_mode || ctx->spares_runtime)
		return TASK_EQUAL;
	r = image_demand(ctx, "containerd.service", &why);
	if (r == 0)
		r = images_id(ctx, t->name, id, &why);
	if (r == -ENOENT)
		return task_missing(diff, "not in the runtime");
	return r < 0 ? task_differs(diff, "the runtime does not answer") : TASK_EQUAL;
}

static int pull_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	int r = image_demand(ctx, "containerd.service", e);

	(void)run;
	if (r < 0)
		return r;
	r = image_ctr_pull(ctx, t->name, t->pull.hosts, e);
	images_changed(ctx);
	if (r >= 0)
		return TASK_DONE;
	/* a registry may answer later */
	e->kind = ERR_NET;
	return err_wrap(e, "pull image %s", t->name);
}

const struct task_ops task_pull_ops = {
	.kind = "pull",
	.stays = true,
	.check = pull_check,
	.apply = pull_apply,
};
