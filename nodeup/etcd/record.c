#include "nodeup/etcd/claims.h"

#include <string.h>
#include "nodeup/base/json.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/print.h"
#include "nodeup/base/record.h"

static const char record_path[] = OWN_CLAIMS;

enum { RECORD_MAX = 256 << 10 };

/* A wish as the record names it: one that has changed is another. */
static const char *name_of(struct arena *a, const struct volume_wish *w)
{
	if (w->by == VOLUME_BY_TAG)
		return arena_printf(a, "%s tag %s=%s", w->what, w->key, w->value);
	return w->by == VOLUME_BY_ID ? arena_printf(a, "%s id %s", w->what, w->value) : w->what;
}

static const struct tree *find_wish(struct arena *a, const struct tree *all,
				    const struct volume_wish *w)
{
	for (size_t i = 0; all && i < all->n; i++)
		if (str_eq(tree_says(all->items[i].value, "for"), name_of(a, w)))
			return all->items[i].value;
	return NULL;
}

/* The volume of a wish, its disk being here by its serial number: nothing else proves it. */
static bool recall(struct claims *c, const struct tree *kept, struct volume_choice *ret)
{
	const struct volume_wish *wish = ret->wish;
	struct arena *a = c->req->arena;
	struct ec2_volume *v = arena_new(a, struct ec2_volume);
	struct disks disks;
	struct err ignored;

	*v = (struct ec2_volume){
		.id = tree_says(kept, "id"),
		.zone = "",
		.state = "in-use",
		.instance = c->req->facts->instance_id,
		.device = tree_says(kept, "device"),
		.attachment = "attached",
	};
	if (!*v->id || claims_find_disk(c, v->id, NULL, &disks, &ignored) < 0)
		return false;
	if (wish->by == VOLUME_BY_ETCD &&
	    volume_member_parse(a, tree_says(kept, "member"), &ret->member, &ignored) < 0)
		return false;
	ret->state = VOLUME_HERE;
	ret->volume = v;
	(void)print_to(ret->why, sizeof(ret->why), "here as %s, says its serial number",
		       disks.v[0].name);
	return true;
}

static const struct tree *read_record(struct claims *c)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct tree *t = NULL;
	struct err ignored;

	if (!record_read(c->req->root_fd, record_path, &text) ||
	    json_parse(c->req->arena, record_path, buf_str(&text), text.len, &t, &ignored) < 0)
		return NULL;
	return t;
}

/* An image may hold the record of the machine that it was made of. */
static bool is_ours(struct claims *c, const struct tree *t)
{
	const struct claims_req *req = c->req;
	struct err ignored;

	if (!req->facts->instance_id && req->imds)
		(void)!probe_fact(req->arena, req->imds, "instanceID", req->facts, &ignored);
	return req->facts->instance_id &&
	       str_eq(tree_says(t, "instance"), req->facts->instance_id) &&
	       str_eq(tree_says(t, "cluster"), req->node->cluster_name);
}

static void recall_hosts(struct claims *c, const struct tree *t, struct strmap *hosts)
{
	const struct tree *names = tree_get(t, "hosts");

	for (size_t i = 0; names && names->kind == TREE_MAP && i < names->n; i++)
		strmap_set(c->req->arena, hosts, names->items[i].key,
			   tree_says(names, names->items[i].key));
}

void claims_recall_hosts(struct claims *c, struct strmap *hosts)
{
	const struct tree *t = read_record(c);

	if (t && is_ours(c, t))
		recall_hosts(c, t, hosts);
}

bool claims_recall(struct claims *c, struct strmap *hosts)
{
	const struct tree *t = read_record(c), *volumes;

	if (!t || !is_ours(c, t))
		return false;
	volumes = tree_get(t, "volumes");
	for (size_t i = 0; i < c->n; i++) {
		c->choices[i] = (struct volume_choice){ .wish = &c->wishes[i] };
		if (!recall(c, find_wish(c->req->arena, volumes, &c->wishes[i]), &c->choices[i]))
			return false;
	}
	recall_hosts(c, t, hosts);
	return true;
}

static struct tree *record_of(struct claims *c, const struct strmap *hosts)
{
	struct arena *a = c->req->arena;
	struct tree *t = tree_map(a), *volumes = tree_seq(a);

	tree_set_text(a, t, "instance", c->req->facts->instance_id);
	tree_set_text(a, t, "cluster", c->req->node->cluster_name);
	for (size_t i = 0; i < c->n; i++) {
		const struct volume_choice *ch = &c->choices[i];
		struct tree *v = tree_map(a);
		const char *member = "";

		if (ch->member.me)
			member = arena_printf(a, "%s/%s", ch->member.me,
					      strv_join(a, &ch->member.members, ","));
		tree_set_text(a, v, "for", name_of(a, ch->wish));
		tree_set_text(a, v, "id", ch->volume->id);
		tree_set_text(a, v, "device", ch->volume->device);
		tree_set_text(a, v, "member", member);
		(void)tree_add(a, volumes, v);
	}
	(void)tree_set(a, t, "volumes", volumes);
	(void)tree_set(a, t, "hosts", tree_of_strmap(a, hosts));
	return t;
}

void claims_remember(struct claims *c, const struct strmap *hosts)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct err e;
	int r = json_render(record_of(c, hosts), true, &text, &e);

	if (r >= 0)
		r = record_keep(c->req->root_fd, record_path, 0644, buf_str(&text), &e);
	if (r < 0)
		log_warning("volumes not kept for a start with EC2 down: %s", e.msg);
}
