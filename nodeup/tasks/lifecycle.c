/* Tests: test_granted.c. */
#include "nodeup/tasks/kinds.h"

#include "nodeup/aws/autoscaling.h"
#include "nodeup/base/print.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/granted.h"

static const char asked[] = "lifecycle";

/* An instance that enters a warm pool and one that leaves it wait for the hook separately. */
static const char *now(const struct task *t, struct arena *a)
{
	const struct task_lifecycle *l = &t->lifecycle;

	return arena_printf(a, "%s %s %s %s", l->group, t->name, l->instance,
			    l->state ? l->state : "");
}

/* Does not ask whether the instance waits: a node's role may not be allowed to ask. */
static int lifecycle_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			   struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	(void)e;
	if (ctx->image_mode || granted_is(ctx, asked, now(t, a)))
		return TASK_EQUAL;
	if (ctx->is_offline)
		return task_left(diff,
				 "group %s is not told that this instance is ready: we are offline",
				 t->lifecycle.group);
	return task_differs(diff, "group %s may wait for this instance", t->lifecycle.group);
}

static int lifecycle_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			   struct err *e)
{
	const struct autoscaling_hook hook = { .group = t->lifecycle.group,
					       .name = t->name,
					       .instance = t->lifecycle.instance,
					       .region = t->lifecycle.region };
	autoarena struct arena *a = arena_new_empty();
	struct imds *imds = imds_new(ctx->http);
	int r = autoscaling_go_on(ctx->http, imds, &hook, e);

	imds_free(imds);
	if (r < 0)
		return r;
	(void)print_to(run->remark, sizeof(run->remark), "%s",
		       r ? "the group goes on" : "the group waits for nothing");
	return granted_note(ctx, asked, now(t, a), e);
}

const struct task_ops task_lifecycle_ops = {
	.kind = "lifecycle hook",
	.says_all_is_well = true,
	.check = lifecycle_check,
	.apply = lifecycle_apply,
	.compare = baseline_once,
};
