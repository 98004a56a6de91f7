#include "nodeup/etcd/claims.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"

/* between two questions, at first and later */
#define PAUSE_MIN_NS (1 * DUR_SEC)
#define PAUSE_MAX_NS (3 * DUR_SEC)
/* How long members are waited for that a new etcd can begin without; they are asked for again when it is
 * started. So short that no task is done without etcd's volumes meanwhile. With existing data it is the
 * wait for all members. */
#define PATIENCE_NEW_NS (2 * DUR_SEC)
#define PATIENCE_OLD_NS (5 * DUR_SEC)

/* The volumes of all members, wherever they are. */
static int ask_volumes(struct claims *c, struct arena *a, struct ec2_volumes *ret, struct err *e)
{
	const struct claim_host host = claims_host(c);
	struct ec2_instance self = { 0 };
	int r = ec2_describe_instance(c->ec2, a, c->req->facts->instance_id, &self, e);

	return r < 0 ? r
		     : claim_ask(a, &host, &c->wishes[0], &self, c->req->node->cluster_name, NULL,
				 ret, e);
}

/* The instance that has the volume of a member, or NULL. */
static const char *holder_of(struct arena *a, const struct ec2_volumes *all, const char *cluster,
			     const char *member)
{
	const char *key = arena_printf(a, "k8s.io/etcd/%s", cluster);

	for (size_t i = 0; i < all->n; i++) {
		const char *tag = strmap_get(&all->v[i].tags, key);
		struct volume_member m;
		struct err ignored;

		if (tag && *all->v[i].instance && volume_member_parse(a, tag, &m, &ignored) == 0 &&
		    str_eq(m.me, member))
			return all->v[i].instance;
	}
	return NULL;
}

/* Of each member of each of our clusters: its name, and the instance that has its volume. */
struct peer {
	const char *name, *instance;
	size_t cluster; /* of the choices */
	bool is_me;
};

struct peers {
	struct peer *v;
	size_t n;
};

static struct peers list_peers(struct claims *c, struct arena *a, const struct ec2_volumes *all)
{
	struct peers peers = { 0 };

	for (size_t i = 0; i < c->n; i++) {
		const struct volume_choice *ch = &c->choices[i];
		const struct strv *members = &ch->member.members;

		if (ch->wish->by != VOLUME_BY_ETCD || !ch->volume)
			continue;
		for (size_t k = 0; k < members->n; k++)
			arena_push(a, peers.v, peers.n,
				   (struct peer){ plan_etcd_name(a, c->req->node, ch->wish->key,
								 members->v[k]),
						  holder_of(a, all, ch->wish->key, members->v[k]),
						  i, str_eq(members->v[k], ch->member.me) });
	}
	return peers;
}

static int ask_addresses(struct claims *c, struct arena *a, const struct peers *peers,
			 struct strmap *ret, struct err *e)
{
	struct strv ids = { 0 };

	for (size_t i = 0; i < peers->n; i++)
		if (!peers->v[i].is_me && peers->v[i].instance &&
		    !strv_has(&ids, peers->v[i].instance))
			strv_add(a, &ids, peers->v[i].instance);
	return ids.n ? ec2_describe_addresses(c->ec2, a, &ids, ret, e) : 0;
}

static const char *address_now(const struct claims *c, const struct peer *p,
			       const struct strmap *addresses)
{
	if (p->is_me)
		return c->own_address;
	return p->instance ? strmap_get(addresses, p->instance) : NULL;
}

void claims_note_peer(struct claims *c, struct members_known *known, size_t cluster,
		      const char *name, const char *now, const char *before)
{
	struct arena *keep = c->req->arena;

	if (!known->balance)
		known->balance = arena_alloc(keep, c->n * sizeof(*known->balance));
	known->balance[cluster] += now ? 1 : -1;
	if (!now)
		strv_add(keep, &known->missing, arena_str(keep, name));
	if (now || before)
		strmap_set(keep, &known->hosts, arena_str(keep, name),
			   arena_str(keep, now ? now : before));
}

static void note_peers(struct claims *c, const struct peers *peers, const struct strmap *addresses,
		       struct members_known *ret)
{
	struct strmap before = { 0 };

	claims_recall_hosts(c, &before);
	for (size_t i = 0; i < peers->n; i++) {
		const struct peer *p = &peers->v[i];

		claims_note_peer(c, ret, p->cluster, p->name, address_now(c, p, addresses),
				 strmap_get(&before, p->name));
	}
}

int claims_ask_members(struct claims *c, struct members_known *ret, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strmap addresses = { 0 };
	struct ec2_volumes all = { 0 };
	struct peers peers;
	int r = ask_volumes(c, a, &all, e);

	if (r < 0)
		return r;
	peers = list_peers(c, a, &all);
	r = ask_addresses(c, a, &peers, &addresses, e);
	if (r >= 0)
		note_peers(c, &peers, &addresses, ret);
	return r;
}

struct strv claims_unmet(struct claims *c, const struct members_known *known)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < known->missing.n; i++)
		if (!strmap_get(&known->hosts, known->missing.v[i]))
			strv_add(c->req->arena, &names, known->missing.v[i]);
	return names;
}

void claims_note_late(struct claims *c, const struct members_known *known)
{
	struct claims *late;

	c->ret->is_new = c->fresh.n || c->req->was_new;
	if (!c->ret->is_new || !c->req->for_apply || claims_unmet(c, known).n == 0)
		return;
	late = arena_new(c->req->arena, struct claims);
	*late = *c;
	c->ret->late = late;
}

/* etcd that has data knows its members by itself; a new one needs most of its own, and would like all. */
bool claims_may_begin(const struct claims *c, const struct members_known *known, int64_t waited_ns)
{
	if (known->missing.n == 0)
		return true;
	for (size_t i = 0; i < c->n; i++)
		if (c->choices[i].volume && strv_has(&c->fresh, c->choices[i].volume->id) &&
		    known->balance[i] <= 0)
			return false;
	return waited_ns >= (c->fresh.n ? PATIENCE_NEW_NS : PATIENCE_OLD_NS);
}

static bool has_members(const struct claims *c)
{
	return c->n && c->wishes[0].by == VOLUME_BY_ETCD;
}

int claims_peers(struct claims *c, struct plan_req *plan, struct err *e)
{
	const int64_t since = dur_now(), deadline = c->deadline_ns;

	while (has_members(c)) {
		struct members_known known = { 0 };
		struct err why = { 0 };
		int r = claims_ask_members(c, &known, &why);
		int64_t now = dur_now();
		const char *text;

		if (r < 0 && why.kind == ERR_CONFIG) {
			*e = why;
			return r;
		}
		if (r >= 0 && (!c->req->for_apply || claims_may_begin(c, &known, now - since))) {
			plan->etcd_hosts = known.hosts;
			claims_note_late(c, &known);
			if (known.missing.n && c->req->for_apply)
				log_warning("no master has the volume of %s now: /etc/hosts keeps "
					    "what it has, and gets the address %s",
					    strv_join(c->req->arena, &known.missing, ", "),
					    c->ret->late ? "as soon as it is known"
							 : "at the next run");
			return 0;
		}
		if (!c->req->for_apply)
			return 0;
		text = arena_printf(c->req->arena, "members of etcd that have no volume yet: %s",
				    strv_join(c->req->arena, &known.missing, ", "));
		if (deadline && now >= deadline) {
			if (r < 0)
				*e = why;
			return r < 0 ? r : err_fail(e, ERR_BUSY, ETIMEDOUT, "%s", text);
		}
		claims_wait(c, now + (now - since < PAUSE_MAX_NS ? PAUSE_MIN_NS : PAUSE_MAX_NS),
			    text, r < 0 ? &why : NULL);
	}
	return 0;
}
