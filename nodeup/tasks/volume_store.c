#include "nodeup/tasks/volume_store.h"

#include <string.h>
#include "nodeup/tasks/volume_uuid.h"
#include "nodeup/volumes/disk_probe.h"
#include "nodeup/volumes/disk_record.h"

static bool carries(struct task_ctx *ctx, struct arena *a, const struct disk *d, const char *uuid)
{
	struct probe p;

	return disk_probe_signature(ctx->disks, a, d, &p) && p.fs && strcmp(p.uuid, uuid) == 0;
}

static struct disks carriers(struct task_ctx *ctx, struct arena *a, const struct disks *all,
			     const char *name)
{
	const char *uuid = volume_uuid(a, ctx->machine, name);
	struct disks found = { 0 };

	for (size_t i = 0; i < all->n; i++)
		if (carries(ctx, a, &all->v[i], uuid))
			arena_push(a, found.v, found.n, all->v[i]);
	return found;
}

/* The volume that a disk was made for, if it is another one. */
static const char *owner_of(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
			    const struct disk *d)
{
	for (size_t i = 0; ctx->volumes && i < ctx->volumes->n; i++) {
		const struct node_volume *v = &ctx->volumes->v[i];

		if (v->disks == NODE_DISKS_INSTANCE_STORE && !str_eq(v->name, want->name) &&
		    carries(ctx, a, d, volume_uuid(a, ctx->machine, v->name)))
			return v->name;
	}
	return NULL;
}

static int pick_one(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		    const struct disks *all, const char **missing, struct disks *ret, struct err *e)
{
	const struct disks own = ctx->machine ? carriers(ctx, a, all, want->name)
					      : (struct disks){ 0 };
	const char *owner;

	if (own.n == 1) {
		*missing = NULL;
		*ret = own;
		return 0;
	}
	if (want->nth >= (int64_t)all->n)
		return err_fail(e, ERR_SYSTEM, ENODEV,
				"disk %lld of the instance store is not here: it has %zu, from 0",
				(long long)want->nth, all->n);
	*ret = (struct disks){ .v = all->v + want->nth, .n = 1 };
	owner = ctx->machine ? owner_of(want, ctx, a, ret->v) : NULL;
	if (!owner)
		return 0;
	return err_fail(e, ERR_SYSTEM, ENODEV,
			"disk %lld of the instance store is not here: %s in its place is that of "
			"%s",
			(long long)want->nth, ret->v[0].name, owner);
}

static bool is_blank(struct task_ctx *ctx, struct arena *a, const struct disk *d)
{
	struct probe p;

	disk_probe(ctx->disks, a, d, false, &p);
	return p.state == PROBE_BLANK;
}

/* Returns the disks without those that came late: what was made of fewer is left as it is. */
static struct disks without_late(const struct node_volume *want, struct task_ctx *ctx,
				 struct arena *a, const struct disks *all)
{
	struct disk_record record;
	struct disks own;

	if (!ctx->machine || !disk_record_get(ctx->root_fd, a, want->name, &record) ||
	    !record.done || !str_eq(record.uuid, volume_uuid(a, ctx->machine, want->name)))
		return *all;
	own = carriers(ctx, a, all, want->name);
	if (own.n == 0 || own.n != record.disks.n)
		return *all;
	for (size_t i = 0, k = 0; i < all->n; i++) {
		if (k < own.n && strcmp(own.v[k].name, all->v[i].name) == 0)
			k++;
		else if (!is_blank(ctx, a, &all->v[i]))
			return *all;
	}
	return own;
}

int volume_store_pick(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		      const struct disks *all, const char **missing, struct disks *ret,
		      struct err *e)
{
	if (want->nth >= 0)
		return pick_one(want, ctx, a, all, missing, ret, e);
	*ret = without_late(want, ctx, a, all);
	return 0;
}
