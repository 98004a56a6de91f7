/* diff.c - shows what other documents would change on a node, from the documents alone */
#include "nodeup/cmd/plan.h"

#include "nodeup/documents/location.h"
#include "nodeup/tasks/baseline.h"

static int open_documents(struct cli *cli, const char *conf, const struct plan *before,
			  struct session *s, struct err *e)
{
	const struct session_req req = {
		.cli = cli,
		.conf = conf,
		.mode = MODE_DIFF,
		.patience_ns = SESSION_LOOK_NS,
		.before = before,
	};
	int r = session_open(s, &req, e);

	s->ctx.image_mode = s->policy.image_mode;
	return r;
}

static int show_difference(struct cli *cli, struct session *old, struct session *new, struct err *e)
{
	struct plan_before before = {
		.conf = location_shown(cli->arena, old->boot.conf),
		.left = baseline_left(cli->arena, old->plan.tasks, old->plan.n, new->plan.tasks,
				      new->plan.n),
	};

	baseline_set(new->arena, old->plan.tasks, old->plan.n, new->plan.tasks, new->plan.n,
		     &new->ctx);
	return cmd_plan_walk(cli, new, &before, e);
}

int cmd_diff(struct cli *cli, struct err *e)
{
	struct session old = { 0 }, new = { 0 };
	int r = 0;

	if (cli->args.n != 2)
		r = err_fail(
			e, ERR_USAGE, 0,
			"diff wants the documents before and those after: nodeup diff OLD NEW");
	if (r == 0)
		r = open_documents(cli, cli->args.v[0], NULL, &old, e);
	if (r == 0)
		r = open_documents(cli, cli->args.v[1], &old.plan, &new, e);
	if (r == 0)
		r = show_difference(cli, &old, &new, e);
	session_close(&new);
	session_close(&old);
	return r;
}
