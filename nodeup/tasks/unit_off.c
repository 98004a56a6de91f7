#include "nodeup/tasks/kinds.h"

#include "nodeup/base/dur.h"

#define JOB_POLL_NS (50 * DUR_MS)

static bool is_enabled(const struct bus_unit *u)
{
	return str_eq(u->file_state, "enabled") || str_eq(u->file_state, "enabled-runtime");
}

int task_get_unit(struct task_ctx *ctx, struct arena *a, const char *name, struct bus_unit *u,
		  struct err *e)
{
	if (!ctx->bus)
		return err_fail(e, ERR_SYSTEM, ENOTCONN, "no systemd on this host");
	return bus_get_with_links(ctx->bus, a, name, u, e);
}

/* In an image nothing runs; an enabled unit is stopped when the image boots. */
static int off_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		     struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct bus_unit u;
	int r;

	if (ctx->image_mode)
		return TASK_EQUAL;
	r = task_get_unit(ctx, a, t->name, &u, e);
	if (r < 0)
		return r;
	if (bus_unit_is_at_work(&u))
		return task_differs(diff, "%s, but " TASK_DISABLED, u.active_state);
	if (is_enabled(&u))
		return task_differs(diff, "enabled, but " TASK_DISABLED);
	return TASK_EQUAL;
}

int task_follow_stop(struct task_ctx *ctx, struct task_run *run, struct err *e)
{
	const char *result = "";

	switch (bus_job_state(ctx->bus, run->job, &result)) {
	case BUS_JOB_DONE:
		return TASK_DONE;
	case BUS_JOB_FAILED:
		run->stage = 0;
		return err_fail(e, ERR_SYSTEM, EIO, "its stop job: %s", result);
	default:
		return task_wait(run, dur_now() + JOB_POLL_NS, "its stop job");
	}
}

int task_unit_off(struct task_ctx *ctx, const char *name, struct task_run *run, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct bus_unit u;
	bool changed;
	int r = task_get_unit(ctx, a, name, &u, e);

	if (r >= 0 && run->stage == 0 && is_enabled(&u)) {
		r = bus_enable(ctx->bus, name, false, &changed, e);
		/* without a reload the manager would answer from memory */
		if (r >= 0)
			r = bus_reload(ctx->bus, e);
	}
	if (r >= 0 && run->stage == 0 && bus_unit_is_at_work(&u)) {
		r = bus_job(ctx->bus, "stop", name, &run->job, e);
		run->stage = 1;
	}
	if (r < 0 || run->stage == 0)
		return r < 0 ? r : TASK_DONE;
	return task_follow_stop(ctx, run, e);
}

static int off_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		     struct err *e)
{
	return task_unit_off(ctx, t->name, run, e);
}

static int off_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
		       struct task_diff *diff)
{
	(void)t;
	return was && was->ops->apply != off_apply && !ctx->image_mode
		       ? task_differs(diff, "active, but " TASK_DISABLED)
		       : TASK_EQUAL;
}

const struct task_ops task_unit_off_ops = {
	.kind = "unit",
	.stays = true,
	.on_main = true,
	.check = off_check,
	.apply = off_apply,
	.compare = off_compare,
};
