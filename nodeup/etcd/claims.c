#include "nodeup/etcd/claims.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"

/* what a plan waits for an answer */
#define LOOK_NS (5 * DUR_SEC)
/* until what does not need etcd's volumes is done without them */
#define SOON_NS (5 * DUR_SEC)
/* until the last run's volumes will do, if EC2 does not answer */
#define SILENCE_NS (10 * DUR_SEC)

static bool has_etcd(const struct node *n)
{
	return n->is_master && str_is_empty(n->protokube.name);
}

static void add_wish(struct claims *c, struct volume_wish wish, const struct node_volume *v)
{
	size_t n = c->n;

	arena_push(c->req->arena, c->wanted, n, v);
	arena_push(c->req->arena, c->wishes, c->n, wish);
}

/* main before all others: a master without a main volume takes no other. */
static void wish_for_etcd(struct claims *c)
{
	const struct node_etcd_clusters *all = &c->req->node->etcd_clusters;

	for (int others = 0; others < 2; others++)
		for (size_t i = 0; i < all->n; i++) {
			const char *name = all->v[i].name;
			const struct volume_wish wish = {
				.by = VOLUME_BY_ETCD,
				.what = arena_printf(c->req->arena, "etcd %s", name),
				.key = name,
			};

			if (str_eq(name, "main") != others)
				add_wish(c, wish, NULL);
		}
}

/* Before this machine formats a volume or begins to use it, EC2 is asked which other instance has it, or
 * may: the disk does not say. */
static bool is_in_use(struct claims *c, const struct node_volume *v)
{
	struct err ignored;
	struct disks disks;

	return claims_find_disk(c, v->volume_id, NULL, &disks, &ignored) >= 0 &&
	       claims_was_used(c, v, &disks.v[0]);
}

static void wish_for_documents(struct claims *c)
{
	const struct node *n = c->req->node;
	const struct node_volumes *all = &n->volumes;
	const bool look_only = n->is_master && !has_etcd(n);

	for (size_t i = 0; i < all->n; i++) {
		const struct node_volume *v = &all->v[i];
		/* a protokube attaches volumes itself */
		struct volume_wish wish = { .what = v->name, .look_only = look_only };

		if (v->disks == NODE_DISKS_TAG) {
			wish.by = VOLUME_BY_TAG;
			wish.key = v->tag_key;
			wish.value = v->tag_value;
			add_wish(c, wish, v);
		} else if (v->disks == NODE_DISKS_VOLUME_ID && !is_in_use(c, v)) {
			wish.by = VOLUME_BY_ID;
			wish.value = v->volume_id;
			add_wish(c, wish, v);
		}
	}
}

static int attempt_claim(struct claims *c, int64_t deadline_ns, struct plan_req *plan,
			 struct err *e)
{
	const struct claim_host host = claims_host(c);
	const struct claim_req req = {
		.cluster = c->req->node->cluster_name,
		.wishes = c->wishes,
		.n = c->n,
		.deadline_ns = deadline_ns,
		.own = c->req->own,
	};
	int r;

	c->deadline_ns = deadline_ns;
	query_set_deadline(c->ec2, deadline_ns);
	r = claim_take(c->req->arena, &req, &host, c->choices, e);
	return r < 0 ? r : claims_peers(c, plan, e);
}

static int64_t earlier(int64_t deadline_ns, int64_t other_ns)
{
	return !deadline_ns || other_ns < deadline_ns ? other_ns : deadline_ns;
}

/* Any service may use the directories of the documents' volumes, so the whole plan waits for them. Only
 * kubelet waits for etcd's. */
static bool may_come_later(const struct claims *c, const struct err *why)
{
	bool all_etcd = true;

	for (size_t i = 0; i < c->n; i++)
		all_etcd &= c->wishes[i].by == VOLUME_BY_ETCD;
	return c->req->may_leave && all_etcd && why->errnum != ENODEV;
}

static void leave_volumes(struct claims *c, struct plan_req *plan, const struct err *why)
{
	const char *text = arena_printf(c->req->arena, "waiting: %s", why->msg);

	log_warning("WAITING volumes: what does not need them is done meanwhile: %s", why->msg);
	claims_tell_unknown(c, plan, text);
	c->ret->left = true;
	c->n = 0;
}

static void replay_volumes(struct claims *c, struct plan_req *plan, const struct strmap *hosts,
			   const char *why)
{
	log_warning("volumes: EC2 does not answer; their disks are here by their serial numbers, "
		    "and what the last run was told of them is used: %s",
		    why);
	plan->etcd_hosts = *hosts;
	claims_tell(c, plan, &(struct strv){ 0 });
}

static int take_volumes(struct claims *c, struct plan_req *plan, struct err *e)
{
	const int64_t last = c->req->deadline_ns;
	struct volume_choice *known = c->choices;
	struct strmap hosts = { 0 };
	bool is_known = claims_recall(c, &hosts);
	int64_t soon = is_known            ? earlier(last, c->since_ns + SILENCE_NS)
		       : c->req->may_leave ? earlier(last, c->since_ns + SOON_NS)
					   : last;
	struct err why = { 0 };
	int r;

	c->choices = arena_alloc(c->req->arena, c->n * sizeof(*c->choices));
	r = attempt_claim(c, soon, plan, &why);
	if (r < 0 && is_known && why.kind == ERR_NET) {
		c->choices = known;
		replay_volumes(c, plan, &hosts, why.msg);
		return 0;
	}
	if (r < 0 && (why.kind == ERR_NET || why.kind == ERR_BUSY)) {
		if (soon != last && may_come_later(c, &why)) {
			leave_volumes(c, plan, &why);
			return 0;
		}
		if (soon != last)
			r = attempt_claim(c, last, plan, &why);
	}
	if (r < 0) {
		*e = why;
		return r;
	}
	claims_tell(c, plan, &(struct strv){ 0 });
	claims_remember(c, &plan->etcd_hosts);
	return 0;
}

/* For a plan: what the last apply was told, or that it is unknown. */
static void tell_unknown(struct claims *c, struct plan_req *plan, const char *what, const char *why)
{
	struct strmap hosts = { 0 };

	if (claims_recall(c, &hosts)) {
		replay_volumes(c, plan, &hosts, why);
		return;
	}
	log_warning("volumes: %s", why);
	claims_tell_unknown(c, plan, arena_printf(c->req->arena, "%s: %s", what, why));
	c->n = 0;
}

static int look_at_volumes(struct claims *c, struct plan_req *plan, struct err *e)
{
	const struct claim_host host = claims_host(c);
	const struct claim_req req = {
		.cluster = c->req->node->cluster_name,
		.wishes = c->wishes,
		.n = c->n,
	};
	struct strv devices = { 0 };
	struct err why = { 0 };
	int r = claim_look(c->req->arena, &req, &host, c->choices, &devices, &why);

	if (r >= 0) {
		claims_tell(c, plan, &devices);
		return claims_peers(c, plan, e);
	}
	if (why.kind != ERR_NET) {
		*e = why;
		return r;
	}
	tell_unknown(c, plan, "not known", why.msg);
	return 0;
}

/* Offline it also cannot be asked which instance this is, and only for it the last run's volumes count. */
static int refuse_offline(const struct volume_wish *wish, struct err *e)
{
	if (wish->by != VOLUME_BY_ID)
		return err_fail(e, ERR_NET, ENETDOWN,
				"%s: which volume it is EC2 would know, and we are offline",
				wish->what);
	(void)err_fail(e, ERR_NET, ENETDOWN,
		       "%s: whether another instance has volume %s as well EC2 would know, and we "
		       "are offline",
		       wish->what, wish->value);
	err_note(e, "do", "run it once without --offline: what is in use then needs no answer");
	return err_code(e);
}

static int settle_claims(struct claims *c, struct plan_req *plan, struct err *e)
{
	int r;

	if (c->req->offline && c->req->for_apply)
		return refuse_offline(&c->wishes[0], e);
	if (c->req->offline) {
		tell_unknown(c, plan, "not known offline",
			     "which volume, whether it is attached, and to whom else");
		claims_use(c, plan);
		return 0;
	}
	c->ec2 = ec2_new(&(struct query_req){
		.http = c->req->http, .imds = c->req->imds, .region = c->req->facts->region });
	query_set_deadline(c->ec2, c->since_ns + LOOK_NS);
	r = c->req->for_apply ? take_volumes(c, plan, e) : look_at_volumes(c, plan, e);
	query_free(c->ec2);
	if (r < 0)
		return r;
	claims_use(c, plan);
	return 0;
}

int claims_settle(const struct claims_req *req, struct plan_req *plan, struct claims_result *ret,
		  struct err *e)
{
	const struct node *n = req->node;
	struct claims c = { .req = req, .ret = ret, .since_ns = dur_now() };
	int r;

	if (has_etcd(n) && node_has_master_pd(n)) {
		r = claims_on_master_pd(req, plan, e);

		if (r < 0)
			return r;
	} else if (has_etcd(n) && req->image_mode) {
		return claims_given(req, plan, e);
	} else if (has_etcd(n)) {
		wish_for_etcd(&c);
	}
	if (req->image_mode)
		return 0;
	c.disks.root_fd = req->root_fd;
	r = claims_ask_devices(&c, e);
	if (r < 0)
		return r;
	wish_for_documents(&c);
	if (c.n == 0)
		return 0;
	c.choices = arena_alloc(req->arena, c.n * sizeof(*c.choices));
	return settle_claims(&c, plan, e);
}

void claims_give_back(const struct claims_req *req, struct err *e)
{
	struct claims c = { .req = req, .disks = { .root_fd = req->root_fd } };
	struct claim_host host = claims_host(&c);

	/* a run that failed before it read documents has no request yet */
	if (!req->own || req->own->ids.n == 0)
		return;
	c.ec2 = ec2_new(&(struct query_req){
		.http = req->http, .imds = req->imds, .region = req->facts->region });
	claim_give_back(req->own, &host, e);
	query_free(c.ec2);
}
