/* Tests: test_module.c. */
#include "nodeup/tasks/kinds.h"

#include "nodeup/base/dur.h"
#include "nodeup/host/kernel.h"
#include "nodeup/tasks/baseline.h"

#define LOAD_NS (60 * DUR_SEC)

static bool is_loaded(struct task_ctx *ctx, const char *module)
{
	autoarena struct arena *a = arena_new_empty();

	return io_is_there(ctx->root_fd, arena_printf(a, "/sys/module/%s", module));
}

/* Returns whether the kernel can load the module. If it cannot, nothing is changed; in a container no module is
 * listed. */
static bool is_to_be_had(struct task_ctx *ctx, const char *module)
{
	return kernel_lists(ctx->root_fd, "modules.dep", module);
}

static int module_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	(void)e;
	if (ctx->image_mode || is_loaded(ctx, t->name) || !is_to_be_had(ctx, t->name))
		return TASK_EQUAL;
	return task_missing(diff, "not loaded");
}

static int module_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	const char *const argv[] = { "modprobe", "--", t->name, NULL };

	(void)run;
	return task_run_program(ctx, argv, -1, LOAD_NS, NULL, e);
}

static const char *module_remark(const struct task *t, struct task_ctx *ctx, struct arena *a)
{
	if (ctx->image_mode || is_loaded(ctx, t->name) || is_to_be_had(ctx, t->name) ||
	    kernel_lists(ctx->root_fd, "modules.builtin", t->name))
		return NULL;
	return arena_printf(a, "kernel module %s: this kernel does not have it", t->name);
}

const struct task_ops task_module_ops = {
	.kind = "module",
	.stays = true,
	.check = module_check,
	.apply = module_apply,
	.compare = baseline_once,
	.remark = module_remark,
};
