#include "nodeup/etcd/claims.h"

#include <ctype.h>
#include <string.h>
#include "nodeup/base/dur.h"

#define DEVICE_TIMEOUT_NS (90 * DUR_SEC)

static bool is_volume_id(const char *s)
{
	size_t n = strlen("vol-");

	if (!str_has_prefix(s, "vol-") || !s[n])
		return false;
	while (isxdigit((unsigned char)s[n]))
		n++;
	return s[n] == '\0';
}

/* EC2's name, by which a disk is known that tells no serial number; NULL while EC2 does not say it. */
static const char *attached_as(const struct volume_choice *ch)
{
	return ch->state == VOLUME_HERE && *ch->volume->device ? ch->volume->device : NULL;
}

/* The plan's own list: the model is not changed. */
static struct node_volumes *own_volumes(const struct claims_req *req, struct plan_req *plan)
{
	const struct node_volumes *all = &req->node->volumes;

	for (size_t i = 0; i < all->n && plan->volumes.n < all->n; i++)
		arena_push(req->arena, plan->volumes.v, plan->volumes.n, all->v[i]);
	return &plan->volumes;
}

/* The member, and the file system that its data is on. */
static void add_member(const struct claims_req *req, struct plan_req *plan,
		       const struct plan_etcd *member, const char *attached_as)
{
	const char *path = plan_etcd_path(req->arena, req->facts, member->volume_id);
	struct node_volumes *all = own_volumes(req, plan);
	const struct node_volume v = {
		.name = path,
		.path = path,
		.filesystem = "ext4",
		.disks = NODE_DISKS_VOLUME_ID,
		.volume_id = member->volume_id,
		.attached_as = attached_as,
		.nth = -1,
		.persist = true,
		.device_timeout_ns = DEVICE_TIMEOUT_NS,
	};

	arena_push(req->arena, plan->etcd, plan->n_etcd, *member);
	arena_push(req->arena, all->v, all->n, v);
}

/* kube-up's masters have one volume, and one member of each etcd cluster on it. So no request is
 * needed to know where the members are. */
int claims_on_master_pd(const struct claims_req *req, struct plan_req *plan, struct err *e)
{
	const struct node_etcd_clusters *all = &req->node->etcd_clusters;
	struct facts *f = req->facts;
	int r = 0;

	if (!f->local_ipv4 && req->imds)
		r = probe_fact(req->arena, req->imds, "localIPv4", f, e);
	for (size_t i = 0; i < all->n && r == 0; i++) {
		const struct node_etcd_cluster *c = &all->v[i];
		const struct plan_etcd m = {
			.cluster = c->name,
			.path = node_master_pd,
			.member = { c->members.n ? c->members.v[0] : "", c->members },
		};

		if (c->members.n != 1)
			return err_config(e,
					  "etcd %s: %s is for one member, the documents name %zu",
					  c->name, node_master_pd, c->members.n);
		arena_push(req->arena, plan->etcd, plan->n_etcd, m);
		if (f->local_ipv4)
			strmap_set(req->arena, &plan->etcd_hosts,
				   plan_etcd_name(req->arena, req->node, c->name, c->members.v[0]),
				   f->local_ipv4);
	}
	return r;
}

/* Of an image: what --facts says. */
int claims_given(const struct claims_req *req, struct plan_req *plan, struct err *e)
{
	const struct strmap *given = &req->facts->etcd_volumes;

	for (size_t i = 0; i < given->n; i++) {
		const char *value = given->v[i].value, *space = strchrnul(value, ' ');
		struct plan_etcd m = { .cluster = given->v[i].key };
		int r;

		m.volume_id = arena_strn(req->arena, value, (size_t)(space - value));
		if (!is_volume_id(m.volume_id))
			return err_config(e, "fact etcdVolumes.%s: '%s' is not the id of a volume",
					  m.cluster, m.volume_id);
		r = volume_member_parse(req->arena, *space ? space + 1 : space, &m.member, e);
		if (r < 0)
			return err_wrap(e, "fact etcdVolumes.%s", m.cluster);
		add_member(req, plan, &m, NULL);
	}
	return 0;
}

/* From now on what a tag meant is the volume of that id. */
static void settle_documents(struct claims *c, struct plan_req *plan)
{
	const struct node_volumes *all = &c->req->node->volumes;
	struct node_volumes *own = own_volumes(c->req, plan);

	for (size_t i = 0; i < c->n; i++)
		for (size_t k = 0; k < all->n; k++)
			if (&all->v[k] == c->wanted[i] && c->choices[i].volume) {
				own->v[k].disks = NODE_DISKS_VOLUME_ID;
				own->v[k].volume_id = c->choices[i].volume->id;
				own->v[k].attached_as = attached_as(&c->choices[i]);
			}
}

/* What is attached, or would be, is what the plan is made of. */
static void add_members(struct claims *c, struct plan_req *plan)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct volume_choice *ch = &c->choices[i];
		struct plan_etcd m = { .cluster = ch->wish->key, .member = ch->member };

		if (ch->wish->by != VOLUME_BY_ETCD || !ch->volume)
			continue;
		m.volume_id = ch->volume->id;
		add_member(c->req, plan, &m, attached_as(ch));
	}
}

void claims_use(struct claims *c, struct plan_req *plan)
{
	settle_documents(c, plan);
	add_members(c, plan);
}

/* "vol-0abc (a/a,b,c), available in us-west-2a: attach it as /dev/xvdu" */
static const char *describe(struct arena *a, const struct volume_choice *ch, const char *device)
{
	const char *tag = "";

	if (!ch->volume)
		return arena_printf(a, "waiting: %s", ch->why);
	if (ch->member.me)
		tag = arena_printf(a, " (%s/%s)", ch->member.me,
				   strv_join(a, &ch->member.members, ","));
	return arena_printf(a, "%s%s, %s%s%s", ch->volume->id, tag, ch->why,
			    device ? ": attach it as " : "", device ? device : "");
}

/* A line of the plan for each claim. */
void claims_tell(struct claims *c, struct plan_req *plan, const struct strv *devices)
{
	const struct ec2_instance self = { .devices = *devices };
	struct strv proposed = { 0 };

	for (size_t i = 0; i < c->n; i++) {
		const struct volume_choice *ch = &c->choices[i];
		const char *device = NULL;

		if (ch->state == VOLUME_FREE)
			device = volume_device_name(&self, &proposed, NULL, NULL);
		if (device)
			strv_add(c->req->arena, &proposed, device);
		arena_push(c->req->arena, plan->claims, plan->n_claims,
			   (struct plan_claim){ ch->wish->what, describe(c->req->arena, ch, device),
						ch->state == VOLUME_HERE });
	}
}

/* EC2 cannot be asked: the plan says so, and what else it knows. */
void claims_tell_unknown(struct claims *c, struct plan_req *plan, const char *why)
{
	for (size_t i = 0; i < c->n; i++)
		arena_push(c->req->arena, plan->claims, plan->n_claims,
			   (struct plan_claim){ c->wishes[i].what, why, false });
}
