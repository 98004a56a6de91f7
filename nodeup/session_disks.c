#include "nodeup/session_disks.h"

#include <string.h>
#include "nodeup/aws/imds_disks.h"
#include "nodeup/tasks/volume.h"

int session_disks(struct session *s, struct strmap *ret_uuids, struct err *e)
{
	const struct node_volumes *volumes = &s->boot.node.volumes;
	struct disk_host *host;
	int r;

	if (s->image_mode || volumes->n == 0)
		return 0;
	host = arena_new(s->arena, struct disk_host);
	host->root_fd = s->root_fd;
	if (s->boot.imds) {
		r = imds_block_devices(s->boot.imds, s->arena, &host->mapping, e);
		if (r < 0)
			return r;
	}
	s->ctx.disks = host;
	s->ctx.root_fd = s->root_fd;
	for (size_t i = 0; i < volumes->n; i++) {
		const char *uuid = volume_known_uuid(&volumes->v[i], &s->ctx, s->arena);

		if (uuid)
			strmap_set(s->arena, ret_uuids, volumes->v[i].name, uuid);
	}
	return 0;
}

int session_preflight(struct session *s, struct err *e)
{
	for (size_t i = 0; i < s->plan.n; i++) {
		const struct task *t = s->plan.tasks[i];
		struct task_diff diff;
		struct err why;

		if (t->kind != TASK_VOLUME || task_ops(t)->check(t, &s->ctx, &diff, &why) >= 0)
			continue;
		if (why.kind != ERR_REFUSED && why.kind != ERR_CONFIG)
			continue;
		*e = why;
		return err_wrap(e, "volume %s", t->name);
	}
	return 0;
}
