/* diff.c - what other documents would change on a node, from the documents alone */
#include "nodeup/cmd/plan.h"

#include "nodeup/base/dur.h"
#include "nodeup/documents/location.h"
#include "nodeup/tasks/before.h"

#define PATIENCE_NS (5 * DUR_SEC)

static int open_documents(struct cli *cli, const char *conf, struct session *s, struct err *e)
{
	const struct session_req req = {
		.cli = cli,
		.conf = conf,
		.documents_only = true,
		.patience_ns = PATIENCE_NS,
	};
	int r = session_open(s, &req, e);

	s->ctx.image_mode = s->image_mode;
	s->ctx.only_looks = true;
	return r;
}

/* What of the documents before stays on the node: assets stay in the cache, and a reload leaves nothing. */
static bool stays(const struct task *t)
{
	return task_path(t) || t->kind == TASK_UNIT || t->kind == TASK_USER ||
	       t->kind == TASK_PACKAGE || t->kind == TASK_IMAGE;
}

static bool is_named(const struct plan *p, const struct task *t)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == t->kind && str_eq(p->tasks[i]->name, t->name))
			return true;
	return false;
}

static int show_difference(struct cli *cli, struct session *old, struct session *new,
			   size_t *ret_pending, struct err *e)
{
	struct plan_before before = { .conf = location_shown(cli->arena, old->boot.conf) };

	for (size_t i = 0; i < old->plan.n; i++) {
		const struct task *t = old->plan.tasks[i];

		if (stays(t) && !(t->kind == TASK_FILE && t->file.unwanted) &&
		    !is_named(&new->plan, t))
			strv_add(cli->arena, &before.left, task_title(cli->arena, t));
	}
	before_set(new->arena, old->plan.tasks, old->plan.n, new->plan.tasks, new->plan.n,
		   &new->ctx);
	return plan_walk(cli, new, &before, ret_pending, e);
}

int cmd_diff(struct cli *cli, struct err *e)
{
	struct session old = { 0 }, new = { 0 };
	size_t pending = 0;
	int r = plan_check_output(cli, e);

	if (r == 0 && cli->args.n != 2)
		r = err_fail(
			e, ERR_USAGE, 0,
			"diff wants the documents before and those after: nodeup diff OLD NEW");
	if (r == 0)
		r = open_documents(cli, cli->args.v[0], &old, e);
	if (r == 0)
		r = open_documents(cli, cli->args.v[1], &new, e);
	if (r == 0)
		r = show_difference(cli, &old, &new, &pending, e);
	session_close(&new);
	session_close(&old);
	return r < 0 ? r : pending ? PLAN_PENDING : 0;
}
