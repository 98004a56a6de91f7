#include "nodeup/tasks/volume_recorded.h"

#include <string.h>
#include "nodeup/tasks/volume.h"
#include "nodeup/tasks/volume_uuid.h"
#include "nodeup/volumes/disk_probe.h"
#include "nodeup/volumes/disk_record.h"

static const char *machine_of(const struct task_ctx *ctx)
{
	return ctx->machine ? ctx->machine : "";
}

static bool get_record(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		       struct disk_record *ret)
{
	return disk_record_get(ctx->root_fd, a, want->name, ret) &&
	       str_eq(ret->machine, machine_of(ctx)) && str_eq(ret->fs, want->filesystem);
}

/* Returns whether a record speaks of other disks than the document does, or than those that are here. */
static bool is_of_others(const struct node_volume *want, struct arena *a,
			 const struct disk_record *rec, const struct disks *disks)
{
	if (want->disks == NODE_DISKS_VOLUME_ID)
		return disk_record_rules_out(a, rec, want->volume_id);
	for (size_t i = 0; i < disks->n; i++)
		if (disk_record_rules_out(a, rec, disks->v[i].serial))
			return true;
	return false;
}

/* Returns the UUID that the disks carry. A volume that does not persist is adopted only if this machine formatted it. */
static const char *carried_by(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
			      const struct disk *d)
{
	struct probe p;

	disk_probe(ctx->disks, a, d, want->persist, &p);
	if (!str_eq(p.fs, mkfs_kind(want->filesystem)->type) || !*p.uuid || p.incomplete)
		return NULL;
	if (!want->persist && !str_eq(p.uuid, volume_uuid(a, machine_of(ctx), want->name)))
		return NULL;
	return p.uuid;
}

/* Two volumes that have one name in turn are told apart by their UUIDs as well. */
static const char *own_uuid(const struct node_volume *want, struct arena *a,
			    const struct disks *disks)
{
	struct strv ids = { 0 };

	for (size_t i = 0; i < disks->n; i++) {
		if (!disks->v[i].volume_id)
			return NULL;
		strv_add(a, &ids, disks->v[i].volume_id);
	}
	return volume_uuid(a, strv_join(a, &ids, ","), want->name);
}

const char *volume_recorded_uuid(const struct node_volume *want, struct task_ctx *ctx,
				 struct arena *a)
{
	const bool by_name = want->disks == NODE_DISKS_PATHS;
	struct disk_record rec = { 0 };
	struct disks disks = { 0 };
	const char *missing, *uuid;
	struct err ignored;
	bool recorded, others, here;

	if ((!want->persist && !by_name) || !mkfs_kind(want->filesystem) || !ctx->disks)
		return NULL;
	recorded = get_record(want, ctx, a, &rec);
	here = volume_disks(want, ctx, a, &disks, &missing, &ignored) == 0;
	others = recorded && is_of_others(want, a, &rec, &disks);
	/* that another disk has the name now is a reason to refuse it, not to forget the one before */
	if (by_name && recorded && (!others || (rec.done && want->persist)))
		return rec.uuid;
	uuid = here ? carried_by(want, ctx, a, &disks.v[0]) : NULL;
	if (uuid)
		return uuid;
	if (by_name)
		return here ? own_uuid(want, a, &disks) : NULL;
	return recorded && rec.done && !others ? rec.uuid : NULL;
}
