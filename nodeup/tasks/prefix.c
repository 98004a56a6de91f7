/* Tests: test_granted.c. */
#include "nodeup/tasks/kinds.h"

#include "nodeup/aws/ec2.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/granted.h"

static const char asked[] = "ipv6-prefix";

/* Asks IMDS about the first interface; "" for a missing value. */
static int ask(struct imds *m, struct arena *a, const char *what, const char **ret, struct err *e)
{
	const char *mac = "";
	int r = imds_get(m, a, "meta-data/mac", &mac, e);

	*ret = "";
	if (r >= 0)
		r = imds_get(m, a,
			     arena_printf(a, "meta-data/network/interfaces/macs/%s/%s", mac, what),
			     ret, e);
	return r == -ENOENT ? 0 : r;
}

static int prefix_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *prefixes;
	struct imds *m;
	int r;

	if (ctx->image_mode)
		return TASK_EQUAL;
	m = imds_new(ctx->http);
	r = ask(m, a, "ipv6-prefix", &prefixes, e);
	imds_free(m);
	if (r < 0)
		return r;
	if (!*prefixes && granted_is(ctx, asked, t->prefix.instance)) {
		diff->how = "assigned, metadata do not show it yet";
		return TASK_EQUAL;
	}
	return *prefixes ? TASK_EQUAL : task_missing(diff, "the interface has none");
}

static int assign(const struct task *t, struct task_ctx *ctx, struct imds *m, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const char *interface;
	struct query *ec2;
	int r = ask(m, a, "interface-id", &interface, e);

	if (r == 0 && !*interface)
		r = err_fail(e, ERR_NET, ENOENT,
			     "instance metadata do not say which interface this is");
	if (r < 0)
		return r;
	ec2 = ec2_new(
		&(struct query_req){ .http = ctx->http, .imds = m, .region = t->prefix.region });
	r = ec2_assign_prefix(ec2, interface, e);
	query_free(ec2);
	return r;
}

static int prefix_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	struct imds *m;
	int r;

	(void)run;
	if (ctx->is_offline)
		return err_fail(e, ERR_NET, ENETDOWN, "EC2 is not asked for one: we are offline");
	m = imds_new(ctx->http);
	r = assign(t, ctx, m, e);
	imds_free(m);
	return r < 0 ? r : granted_note(ctx, asked, t->prefix.instance, e);
}

const struct task_ops task_prefix_ops = {
	.kind = "ipv6 prefix",
	.stays = true,
	.check = prefix_check,
	.apply = prefix_apply,
	.compare = baseline_once,
};
