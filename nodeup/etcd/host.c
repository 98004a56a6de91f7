#include "nodeup/etcd/claims.h"

#include <string.h>
#include <time.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/base/wait.h"
#include "nodeup/tasks/volume.h"
#include "nodeup/tasks/volume_uuid.h"
#include "nodeup/volumes/claim.h"
#include "nodeup/volumes/discover.h"

int claims_find_disk(struct claims *c, const char *id, const char *attached_as, struct disks *ret,
		     struct err *e)
{
	const struct disk_want want = {
		.by = DISK_BY_VOLUME_ID,
		.volume_id = id,
		.attached_as = attached_as,
	};
	const char *missing;

	return disk_find(&c->disks, c->req->arena, &want, ret, &missing, e);
}

/* The instance's own id is asked for here, where a failure is waited out. */
static int on_instance(void *arg, struct arena *a, struct ec2_instance *ret, struct err *e)
{
	struct claims *c = arg;
	struct facts *f = c->req->facts;
	int r = 0;

	if (!f->instance_id && !c->req->imds)
		return err_fail(e, ERR_NET, ENETDOWN, "which instance this is cannot be asked");
	if (!f->instance_id)
		r = probe_fact(c->req->arena, c->req->imds, "instanceID", f, e);
	if (r >= 0)
		r = ec2_describe_instance(c->ec2, a, f->instance_id, ret, e);
	if (r >= 0)
		c->own_address = arena_str(c->req->arena, ret->private_ip);
	return r;
}

static int on_volumes(void *arg, struct arena *a, const struct ec2_filters *filters,
		      struct ec2_volumes *ret, struct err *e)
{
	struct claims *c = arg;

	return ec2_describe_volumes(c->ec2, a, filters, ret, e);
}

static int on_attach(void *arg, const char *volume, const char *device, struct err *e)
{
	struct claims *c = arg;
	int r = ec2_attach(c->ec2, volume, c->req->facts->instance_id, device, e);

	if (r >= 0)
		log_notice("volume %s is being attached as %s", volume, device);
	return r;
}

static int on_detach(void *arg, const char *volume, struct err *e)
{
	struct claims *c = arg;

	return ec2_detach(c->ec2, volume, c->req->facts->instance_id, e);
}

/* "/dev/xvdu" and "/dev/sdu" are one name. */
static bool on_is_used(void *arg, const char *device)
{
	struct claims *c = arg;
	autofree char *other = xasprintf("/dev/sd%s", device + strlen("/dev/xvd"));

	return io_is_there(c->req->root_fd, device) || io_is_there(c->req->root_fd, other);
}

/* A disk that says nothing of itself may be any volume's. */
static const char *user_of_nameless(struct claims *c)
{
	struct arena *a = c->req->arena;
	struct disks all;
	struct err e;

	if (disk_list(&c->disks, a, &all, &e) < 0)
		return arena_printf(a, "the disks cannot be looked at: %s", e.msg);
	for (size_t i = 0; i < all.n; i++) {
		const struct disk *d = &all.v[i];
		const char *who;

		if (d->volume_id || d->kind == DISK_INSTANCE_STORE)
			continue;
		who = claim_now(&c->disks, a, d);
		if (who)
			return arena_printf(a, "its disk may be %s: %s", d->name, who);
	}
	return NULL;
}

/* It may be mounted by a unit of before as soon as it is there. */
static const char *on_user(void *arg, const char *volume, const char *device)
{
	struct claims *c = arg;
	struct err ignored;
	struct disks disks;

	if (claims_find_disk(c, volume, device, &disks, &ignored) < 0)
		return user_of_nameless(c);
	return claim_now(&c->disks, c->req->arena, &disks.v[0]);
}

static struct node_volume want_of(struct claims *c, const struct volume_choice *choice)
{
	const struct node_volume *v = c->wanted[choice - c->choices];
	struct node_volume etcd = {
		.filesystem = "ext4",
		.disks = NODE_DISKS_VOLUME_ID,
		.persist = true,
	};

	if (v)
		return *v;
	etcd.name = etcd.path = plan_etcd_path(c->req->arena, c->req->facts, choice->volume->id);
	return etcd;
}

static int on_fit(void *arg, const struct volume_choice *choice, struct err *e)
{
	struct claims *c = arg;
	const char *id = choice->volume->id;
	struct node_volume want = want_of(c, choice);
	struct volume_req req;
	struct judged judged;
	struct disks disks;
	int r = claims_find_disk(c, id, choice->volume->device, &disks, e);

	if (r == 0)
		r = disk_have_nodes(&c->disks, &disks, e);
	if (r == -ENODEV)
		return err_fail(e, ERR_BUSY, EAGAIN, "%s, says EC2, but no disk has its id yet",
				choice->why);
	if (r < 0)
		return r;
	/* as the plan will: what we made, or were interrupted in, is known by it */
	req = volume_req_of(c->req->arena, &want, volume_uuid(c->req->arena, id, want.name),
			    c->req->facts->instance_id);
	r = judge_disks(&c->disks, c->req->arena, &req, &disks, &judged, e);
	if (r < 0) {
		err_note(e, "for", "%s", choice->wish->what);
		return r == -EAGAIN ? -EIO : r;
	}
	/* a blank disk of the documents says nothing of etcd */
	if (choice->wish->by == VOLUME_BY_ETCD && judged.verdict == VERDICT_FORMAT &&
	    !strv_has(&c->fresh, id))
		strv_add(c->req->arena, &c->fresh, arena_str(c->req->arena, id));
	return 0;
}

void claims_wait(struct claims *c, int64_t until_ns, const char *why, const struct err *last)
{
	struct err e = { 0 };

	c->attempt++;
	if (last)
		e = *last;
	else
		(void)err_fail(&e, ERR_BUSY, 0, "%s", why);
	wait_tell(c->req->on_wait, c->req->wait_arg, "volumes", c->since_ns, c->attempt, &e,
		  until_ns);
	wait_until(until_ns);
}

static void on_wait(void *arg, int64_t until_ns, const char *why, const struct err *last)
{
	claims_wait(arg, until_ns, why, last);
}

static int64_t on_now(void *arg)
{
	(void)arg;
	return dur_now();
}

struct claim_host claims_host(struct claims *c)
{
	return (struct claim_host){
		.arg = c,
		.instance = on_instance,
		.volumes = on_volumes,
		.attach = on_attach,
		.detach = on_detach,
		.is_used = on_is_used,
		.user = on_user,
		.fit = on_fit,
		.wait = on_wait,
		.now = on_now,
	};
}
