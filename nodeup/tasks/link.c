/* Tests: test_program.c, test_leftover.c. */
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/state.h"
#include "nodeup/tasks/target.h"

#include <fcntl.h>
#include <string.h>
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

/* Makes the link. *ret_made is false if somebody else took its place meanwhile. */
static int make(const struct task *t, struct task_ctx *ctx, bool *ret_made, struct err *e)
{
	autoclose int dir = -1;
	const char *name;
	int r = target_open(ctx, t->name, &dir, &name, e);

	if (r < 0)
		return r;
	*ret_made = symlinkat(t->link.target, dir, name) == 0;
	if (!*ret_made && errno != EEXIST)
		return err_sys(e, "link '%s'", t->name);
	return flush_note(ctx->flush, dir, e) < 0 ? err_code(e) : TASK_DONE;
}

static int link_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	bool made;

	(void)run;
	return make(t, ctx, &made, e);
}

/* Records the mask, so that it is known from a mask that an admin set. */
static int mask_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	const char *to = t->link.target;
	autoclose int fd = -1;
	struct digest d;
	bool made;
	int r = make(t, ctx, &made, e);

	(void)run;
	if (r < 0 || !made)
		return r;
	r = io_open(ctx->root_fd, t->name, O_PATH | O_NOFOLLOW, &fd, e);
	if (r < 0)
		return r;
	digest_of(DIGEST_SHA256, to, strlen(to), &d);
	state_set(ctx->state, t->name, fd, &d, t->origin);
	return TASK_DONE;
}

const struct task_ops task_link_ops = {
	.kind = "link",
	.brief = true,
	.writes_little = true,
	.stays = true,
	.check = link_check,
	.apply = link_apply,
};

const struct task_ops task_mask_ops = {
	.kind = "link",
	.brief = true,
	.writes_little = true,
	.check = link_check,
	.apply = mask_apply,
};
