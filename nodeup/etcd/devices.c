#include "nodeup/etcd/claims.h"

#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/volumes/discover.h"
#include "nodeup/volumes/disk_record.h"

/* what a boot that can do without an answer waits for it */
#define ANSWER_NS (5 * DUR_SEC)

bool claims_was_used(struct claims *c, const struct node_volume *v, const struct disk *d)
{
	const char *machine = c->req->facts->instance_id;
	struct disk_record record;

	return disk_record_get(c->req->root_fd, c->req->arena, v->name, &record) &&
	       disk_record_is_done(&record, machine ? machine : "", d->serial);
}

/* A volume of EBS that a device of the documents turned out to be. */
struct met {
	const struct node_volume *volume;
	const char *id;
};

struct mets {
	struct met *v;
	size_t n;
};

static void meet(struct claims *c, const struct node_volume *v, struct mets *ret)
{
	const struct disk_want want = { .by = DISK_BY_PATHS, .paths = v->devices, .nth = -1 };
	struct disks disks = { 0 };
	struct err ignored;
	const char *missing;

	/* what is not here is said where it is waited for */
	if (disk_find(&c->disks, c->req->arena, &want, &disks, &missing, &ignored) < 0)
		return;
	for (size_t i = 0; i < disks.n; i++)
		if (disks.v[i].volume_id && !claims_was_used(c, v, &disks.v[i]))
			arena_push(c->req->arena, ret->v, ret->n,
				   (struct met){ v, disks.v[i].volume_id });
}

static int ask_volumes(struct claims *c, const struct mets *mets, struct ec2_volumes *ret,
		       struct err *e)
{
	struct arena *a = c->req->arena;
	struct strv ids = { 0 };
	struct ec2_filter by_id = { .name = "volume-id" };
	const struct ec2_filters filters = { .v = &by_id, .n = 1 };
	int r;

	if (c->req->offline)
		return err_fail(e, ERR_NET, ENETDOWN, "we are offline");
	for (size_t i = 0; i < mets->n; i++)
		strv_add(a, &ids, mets->v[i].id);
	by_id.values = ids;
	c->ec2 = ec2_new(&(struct query_req){
		.http = c->req->http, .imds = c->req->imds, .region = c->req->facts->region });
	query_set_deadline(c->ec2, dur_now() + ANSWER_NS);
	r = ec2_describe_volumes(c->ec2, a, &filters, ret, e);
	query_free(c->ec2);
	c->ec2 = NULL;
	return r;
}

static int check_volume(const struct met *met, const struct ec2_volumes *all, struct err *e)
{
	const struct volume_wish wish = { .by = VOLUME_BY_ID, .what = met->volume->name };

	for (size_t i = 0; i < all->n; i++)
		if (str_eq(all->v[i].id, met->id) &&
		    volume_check_shared(&wish, &all->v[i], e) < 0) {
			err_note(e, "untouched", "no volume was attached, nothing was written");
			return err_code(e);
		}
	return 0;
}

int claims_ask_devices(struct claims *c, struct err *e)
{
	const struct node_volumes *volumes = &c->req->node->volumes;
	struct ec2_volumes all = { 0 };
	struct mets mets = { 0 };
	struct err why;
	int r = 0;

	for (size_t i = 0; i < volumes->n; i++)
		if (volumes->v[i].disks == NODE_DISKS_PATHS)
			meet(c, &volumes->v[i], &mets);
	if (mets.n && ask_volumes(c, &mets, &all, &why) < 0) {
		log_warning("volume %s: whether another instance has %s as well is not known: %s",
			    mets.v[0].volume->name, mets.v[0].id, why.msg);
		return 0;
	}
	for (size_t i = 0; i < mets.n && r == 0; i++)
		r = check_volume(&mets.v[i], &all, e);
	return r;
}
