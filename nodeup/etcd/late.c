#include "nodeup/etcd/claims.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"

/* between two questions */
#define PAUSE_NS (5 * DUR_SEC)
/* masters of one group boot within minutes of each other */
#define LATEST_NS (600 * DUR_SEC)

static const char mend[] = "systemctl start kops-configuration.service";

static struct task *find_hosts(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->tasks[i]->kind == TASK_HOSTS)
			return p->tasks[i];
	return NULL;
}

/* The task of the plan once more, by what is known now. */
static int write_hosts(struct claims *c, struct task *t, struct task_ctx *ctx,
		       const struct strmap *hosts, struct err *e)
{
	struct task_run run = { 0 };
	struct task_diff diff;
	int r;

	t->hosts.lines = hosts_lines(c->req->arena, hosts);
	r = t->ops->check(t, ctx, &diff, e);
	if (r != TASK_DIFFERS)
		return r;
	r = t->ops->apply(t, ctx, &run, e);
	if (r < 0)
		return r;
	log_info("changed hosts %s: %s", t->name, diff.why);
	claims_remember(c, hosts);
	return 0;
}

/* 1: all members are known; 0: *ret_text names those that are not. */
static int look_for_members(struct claims *c, struct task *t, struct task_ctx *ctx,
			    const char **ret_text, struct err *e)
{
	struct members_known known = { 0 };
	struct strv unmet;
	int r = claims_ask_members(c, &known, e);

	if (r >= 0)
		r = write_hosts(c, t, ctx, &known.hosts, e);
	if (r < 0)
		return r;
	unmet = claims_unmet(c, &known);
	if (unmet.n)
		*ret_text = strv_join(c->req->arena, &unmet, ", ");
	return unmet.n == 0;
}

void claims_await_members(struct claims *c, const struct plan *plan, struct task_ctx *ctx)
{
	struct task *t = find_hosts(plan);
	const char *who = "members of etcd";
	int64_t last = dur_now() + LATEST_NS;
	int r = 0;

	if (!c || !t)
		return;
	if (c->req->deadline_ns && c->req->deadline_ns < last)
		last = c->req->deadline_ns;
	c->since_ns = dur_now();
	c->attempt = 0;
	c->ec2 = ec2_new(&(struct query_req){
		.http = c->req->http, .imds = c->req->imds, .region = c->req->facts->region });
	query_set_deadline(c->ec2, last);
	while (r <= 0) {
		struct err why = { 0 };

		r = look_for_members(c, t, ctx, &who, &why);
		if (r > 0)
			break;
		if (dur_now() >= last) {
			log_warning("%s: no master has the volume yet, /etc/hosts lacks the "
				    "address; once one has it: %s",
				    who, mend);
			break;
		}
		claims_wait(
			c, dur_now() + PAUSE_NS,
			arena_printf(c->req->arena,
				     "all is started; /etc/hosts lacks %s, which have no volume "
				     "yet",
				     who),
			r < 0 ? &why : NULL);
	}
	query_free(c->ec2);
}
