#include "nodeup/cmd/session.h"

#include "nodeup/aws/imds.h"

/* Returns whether a volume wants the instance store: only such a disk may be known to IMDS alone. */
static bool wants_store(const struct node_volumes *volumes)
{
	for (size_t i = 0; i < volumes->n; i++)
		if (volumes->v[i].disks == NODE_DISKS_INSTANCE_STORE)
			return true;
	return false;
}

int session_disks(struct session *s, const struct session_req *req, struct plan_req *plan,
		  struct err *e)
{
	const struct node_volumes *volumes = &s->boot.node.volumes;
	struct disk_host *host;
	int r;

	if (s->policy.image_mode || volumes->n == 0)
		return 0;
	host = arena_new(s->arena, struct disk_host);
	host->root_fd = s->root_fd;
	if (s->boot.imds && wants_store(volumes)) {
		r = imds_block_devices(s->boot.imds, s->arena, &host->mapping, e);
		if (r == 0)
			r = imds_instance_type(s->boot.imds, s->arena, &host->instance_type, e);
		if (r < 0)
			return r;
	}
	s->ctx.disks = host;
	s->ctx.volumes = volumes;
	s->guard = (struct volume_guard){ .may_use = session_may_use, .arg = s };
	s->ctx.guard = &s->guard;
	s->ctx.root_fd = s->root_fd;
	r = session_ebs(s, req, e);
	if (r < 0)
		return r;
	s->ctx.machine = s->boot.facts.instance_id;
	for (size_t i = 0; i < volumes->n; i++) {
		const char *uuid = volume_recorded_uuid(&volumes->v[i], &s->ctx, s->arena);

		if (uuid)
			strmap_set(s->arena, &plan->volume_uuids, volumes->v[i].name, uuid);
	}
	return 0;
}

/* Checks one volume, or one directory that is mounted from a volume. */
static int check_task(struct session *s, const struct task *t, struct err *e)
{
	struct task_diff diff;
	struct err why;
	int r;

	if (!t->ops->is_preflight)
		return 0;
	r = t->ops->check(t, &s->ctx, &diff, &why);
	if (r >= 0 || why.kind == ERR_NET)
		return 0;
	*e = why;
	return err_wrap(e, "volume %s", t->name);
}

int session_preflight(struct session *s, struct err *e)
{
	for (size_t i = 0; i < s->plan.n && s->ctx.disks; i++) {
		int r = check_task(s, s->plan.tasks[i], e);

		if (r < 0)
			return r;
	}
	return 0;
}
