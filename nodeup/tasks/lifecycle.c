/* Tests: test_granted.c. */
#include "nodeup/tasks/kinds.h"

#include "nodeup/aws/autoscaling.h"
#include "nodeup/aws/signal.h"
#include "nodeup/base/print.h"
#include "nodeup/config/signals.h"
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
	const struct task_lifecycle *l = &t->lifecycle;
	const struct autoscaling_hook hook = { l->group, t->name, l->region };
	const struct signal s = signal_of_hook(l->group, t->name);
	autoarena struct arena *a = arena_new_empty();
	struct imds *imds = imds_new(ctx->http);
	const struct signal_req go_on = {
		.http = ctx->http,
		.imds = imds,
		.region = l->region,
		.service = s.row->service,
		.action = s.row->action,
		.parameters = signal_parameters(a, &s, l->instance, false),
	};
	int r = autoscaling_has_hook(ctx->http, imds, &hook, e);

	if (r > 0)
		r = signal_send(&go_on, e);
	imds_free(imds);
	if (r < 0)
		return err_wrap(e, "group %s, hook %s", l->group, t->name);
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
