#include "nodeup/tasks/volume.h"

#include <string.h>
#include <sys/stat.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/proc.h"
#include "nodeup/base/walk.h"
#include "nodeup/host/kernel.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/volume_uuid.h"
#include "nodeup/volumes/discover.h"
#include "nodeup/volumes/disk_format.h"
#include "nodeup/volumes/disk_probe.h"
#include "nodeup/volumes/disk_record.h"
#include "nodeup/volumes/mounts.h"

/* the patience if the documents give none; attaching a volume can take minutes */
#define PATIENCE_NS (300 * DUR_SEC)
#define LOOK_AGAIN_NS (500 * DUR_MS)
#define ASK_AGAIN_NS (5 * DUR_SEC)

struct volume_req volume_req_of(struct arena *a, const struct node_volume *want, const char *uuid,
				const char *machine)
{
	return (struct volume_req){
		.name = want->name,
		.path = want->path,
		.asked = tree_where(a, &want->pos),
		.machine = machine ? machine : "",
		.mkfs = {
			.fs = want->filesystem,
			.uuid = uuid ? uuid : "",
			.label = want->label,
			.raid = want->raid,
			.options = want->format_options,
		},
		.persist = want->persist,
		.by_name = want->disks == NODE_DISKS_PATHS,
	};
}

int volume_fits(const struct node_volume *want, size_t n_disks, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct volume_req req = volume_req_of(a, want, NULL, NULL);

	return mkfs_check(&req.mkfs, n_disks, e);
}

/* Returns EC2's name for a volume whose disk shows no id; NULL: not known. */
static const char *name_of_disk(const struct node_volume *want, const struct task_ctx *ctx)
{
	return want->volume_id && ctx->guard ? strmap_get(&ctx->guard->attached_as, want->volume_id)
					     : NULL;
}

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

/* Returns the other volume for which nodeup made this disk's content; NULL: none. */
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

/* Returns the disks without those that came late: a volume that was made without them is left as it is. */
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

/* Picks a volume's disks out of all present disks of the instance store, in their order. These disks have no lasting
 * names, and a disk may come late or be lost. So a disk's content says more than its place in the order. */
static int pick_from_store(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
			   const struct disks *all, const char **missing, struct disks *ret,
			   struct err *e)
{
	if (want->nth >= 0)
		return pick_one(want, ctx, a, all, missing, ret, e);
	*ret = without_late(want, ctx, a, all);
	return 0;
}

int volume_disks(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		 struct disks *ret, const char **ret_missing, struct err *e)
{
	struct disk_want disks = {
		.nth = -1,
		.volume_id = want->volume_id,
		.attached_as = name_of_disk(want, ctx),
	};
	struct disks found;
	int r;

	switch (want->disks) {
	case NODE_DISKS_PATHS:
		disks.by = DISK_BY_PATHS;
		disks.paths = want->devices;
		break;
	case NODE_DISKS_INSTANCE_STORE:
		disks.by = DISK_BY_STORE;
		break;
	case NODE_DISKS_VOLUME_ID:
		disks.by = DISK_BY_VOLUME_ID;
		break;
	}
	r = disk_find(ctx->disks, a, &disks, &found, ret_missing, e);
	if (r == 0 && disks.by == DISK_BY_STORE)
		return pick_from_store(want, ctx, a, &found, ret_missing, ret, e);
	if (r == 0)
		*ret = found;
	return r;
}

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

/* Returns whether a record is about other disks than those in the document, or than those that are here. */
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

/* Derives a UUID from the ids of the disks. So volumes that have the same device name one after the other get
 * different UUIDs. */
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
	/* if another disk has the name now, that disk must be refused: so the record of the earlier disk must stay */
	if (by_name && recorded && (!others || (rec.done && want->persist)))
		return rec.uuid;
	uuid = here ? carried_by(want, ctx, a, &disks.v[0]) : NULL;
	if (uuid)
		return uuid;
	if (by_name)
		return here ? own_uuid(want, a, &disks) : NULL;
	return recorded && rec.done && !others ? rec.uuid : NULL;
}

static struct strv names_of(struct arena *a, const struct disks *disks)
{
	struct strv names = { 0 };

	for (size_t i = 0; i < disks->n; i++)
		strv_add(a, &names, disks->v[i].name);
	return names;
}

void volume_describe(const struct task *t, struct task_ctx *ctx, struct arena *a, struct strv *ret)
{
	const struct node_volume *want = t->volume.want;
	const char *missing = NULL;
	struct disks disks;
	struct err e;

	if (!ctx->disks)
		return;
	if (volume_disks(want, ctx, a, &disks, &missing, &e) < 0) {
		strv_add(a, ret, arena_str(a, e.msg));
		return;
	}
	for (size_t i = 0; i < disks.n; i++) {
		struct probe p;

		disk_probe(ctx->disks, a, &disks.v[i], want->persist, &p);
		strv_addf(a, ret, "%s: %s, has %s", disks.v[i].name, disk_describe(a, &disks.v[i]),
			  p.state == PROBE_BLANK ? "nothing: it is blank" : p.has);
	}
	if (missing)
		strv_addf(a, ret, "%s: not here yet", missing);
}

static int say_difference(const struct task *t, struct arena *a, const struct disks *disks,
			  const struct judged *j, struct task_diff *diff)
{
	const struct strv names = names_of(a, disks);
	const char *text = strv_join(a, &names, ", ");

	switch (j->verdict) {
	case VERDICT_OURS:
		if (j->is_cloud_inits)
			return task_differs(diff, "cloud-init's line of /etc/fstab for %s is to go",
					    text);
		if (j->recorded)
			return TASK_EQUAL;
		return task_differs(diff, "%s of %s has no record", t->volume.want->filesystem,
				    text);
	case VERDICT_ADOPT:
		return task_differs(diff, "%s has %s with UUID %s already", text,
				    t->volume.want->filesystem, j->uuid);
	case VERDICT_ASSEMBLE:
		return task_differs(diff, "%s are members of an array that is not started", text);
	case VERDICT_FORMAT:
		break;
	}
	return task_differs(diff, "%s (%s) %s: %s%s", text, disk_describe(a, &disks->v[0]),
			    j->again         ? "was being formatted by us"
			    : j->ephemeral.n ? "is as EC2 made it, and empty"
			    : disks->n == 1  ? "is blank"
					     : "are blank",
			    j->raid ? "mdadm, " : "", mkfs_kind(t->volume.want->filesystem)->tool);
}

static bool share_a_disk(const struct disks *x, const struct disks *y, const char **ret_name)
{
	for (size_t i = 0; i < x->n; i++)
		for (size_t k = 0; k < y->n; k++)
			if (strcmp(x->v[i].dev, y->v[k].dev) == 0) {
				*ret_name = x->v[i].name;
				return true;
			}
	return false;
}

/* Fails if one of the volume's disks also belongs to another volume, under whatever name. */
static int check_disks_are_own(const struct node_volume *want, struct task_ctx *ctx,
			       struct arena *a, const struct disks *disks, struct err *e)
{
	for (size_t i = 0; ctx->volumes && i < ctx->volumes->n; i++) {
		const struct node_volume *other = &ctx->volumes->v[i];
		const char *missing, *name;
		struct disks others;
		struct err ignored;
		int r;

		if (str_eq(other->name, want->name) ||
		    volume_disks(other, ctx, a, &others, &missing, &ignored) < 0 ||
		    !share_a_disk(disks, &others, &name))
			continue;
		r = err_fail(e, ERR_REFUSED, 0,
			     "disk %s for %s: it is asked for %s as well; nothing was written",
			     name, want->name, other->name);
		err_note(e, "is", "asked by %s and %s", tree_where(a, &want->pos),
			 tree_where(a, &other->pos));
		err_note(e, "do", "name each disk once");
		return r;
	}
	return 0;
}

/* Returns whether the mount is on one of the disks. Compares device numbers; a file system with a device number of
 * its own is on the disk from which it was mounted. An array is found by its holders. */
static bool is_on(struct task_ctx *ctx, struct arena *a, const struct mount *m,
		  const struct disks *disks)
{
	const char *source = disk_dev_at(ctx->root_fd, a, m->source);

	for (size_t i = 0; i < disks->n; i++)
		if (strcmp(m->dev, disks->v[i].dev) == 0 || str_eq(source, disks->v[i].dev) ||
		    strv_has(&disks->v[i].holders, str_basename(m->source)))
			return true;
	return false;
}

/* Returns the object that a mount at the path would hide, or fail on; NULL: none. */
static const char *in_the_way(struct task_ctx *ctx, struct arena *a, const char *path)
{
	struct strv names;
	struct stat st;
	struct err e;

	if (io_stat(ctx->root_fd, path, &st, &e) < 0)
		return e.errnum == ENOENT ? NULL : arena_str(a, e.msg);
	if (S_ISLNK(st.st_mode))
		return "a symbolic link: systemd mounts at directories only";
	if (!S_ISDIR(st.st_mode))
		return "a file, and no directory";
	if (walk_names_at(a, ctx->root_fd, path, &names, &e) < 0)
		return arena_str(a, e.msg);
	if (names.n > 0 && !(names.n == 1 && strcmp(names.v[0], "lost+found") == 0))
		return "files that a mount would hide: move them away";
	return NULL;
}

static int refuse_path(struct arena *a, const struct node_volume *v, const char *why, struct err *e)
{
	const char *where = tree_where(a, &v->pos);
	int r = err_fail(e, ERR_REFUSED, 0, "%s is in use; nothing was written", v->path);

	if (*where)
		err_note(e, "is", "asked by %s", where);
	err_note(e, "has", "%s", why);
	return r;
}

/* Fails unless the volume's mount point is mounted from these disks already, or is free and empty. */
static int check_mount_point(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
			     const struct disks *disks, struct err *e)
{
	const struct mount *m;
	struct mounts mounts;
	const char *why;
	int r;

	if (!want->path)
		return 0;
	r = mounts_read(ctx->root_fd, a, "self", &mounts, e);
	if (r < 0)
		return r;
	m = mounts_at(&mounts, want->path);
	if (!m) {
		why = in_the_way(ctx, a, want->path);
		return why ? refuse_path(a, want, why, e) : 0;
	}
	if (is_on(ctx, a, m, disks))
		return 0;
	return refuse_path(a, want, arena_printf(a, "%s mounted there", m->source), e);
}

int volume_mount_is_free(const struct task *unit, struct task_ctx *ctx, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct mounts mounts;
	const char *why;
	int r;

	if (!unit->unit.where || !unit->unit.volume)
		return 0;
	why = in_the_way(ctx, a, unit->unit.where);
	if (!why)
		return 0;
	/* reads the mounts last: systemd may have mounted the volume meanwhile, and in_the_way saw its content */
	r = mounts_read(ctx->root_fd, a, "self", &mounts, e);
	if (r < 0 || mounts_at(&mounts, unit->unit.where))
		return r;
	(void)err_fail(e, ERR_REFUSED, 0, "%s is in use: it was free before; nothing was mounted",
		       unit->unit.where);
	err_note(e, "has", "%s", why);
	return err_code(e);
}

/* The state of a volume's disks, and what may be done with them. */
struct look {
	struct volume_req req;
	struct disks disks;
	const char *missing; /* disks of the instance store that are still to come; or NULL */
	bool absent;         /* no disk is here: the error says which is missing */
	bool too_early;      /* the disks are refused while one of them is missing */
	struct judged now;
};

/* Returns whether the program exists, or comes in a package that is installed before. */
static bool can_run(const struct task *t, const char *program)
{
	return program_in_path(program) || strv_has(&t->volume.programs, program);
}

/* Checks the tools before anything begins that would fail half way. */
static int check_tools(const struct task *t, struct task_ctx *ctx, const struct look *l,
		       struct err *e)
{
	const struct mkfs_kind *kind = mkfs_kind(l->req.mkfs.fs);
	const bool format = l->now.verdict == VERDICT_FORMAT;
	const bool md = l->now.verdict == VERDICT_ASSEMBLE || (format && l->now.raid);

	if (md && !kernel_has_raid0(ctx->disks->root_fd))
		return err_config(e,
				  "volume %s: this kernel has no md to make one of %zu disks for "
				  "%s; btrfs spans disks without",
				  l->req.name, l->disks.n, kind->fs);
	if (md && !can_run(t, "mdadm"))
		return err_config(e,
				  "volume %s: mdadm is not installed, to make one of %zu disks for "
				  "%s: package mdadm has it; btrfs spans disks without",
				  l->req.name, l->disks.n, kind->fs);
	if (format && !can_run(t, kind->tool))
		return err_config(e, "volume %s: %s is not installed: package %s has it",
				  l->req.name, kind->tool, kind->package);
	return 0;
}

static int look(const struct task *t, struct task_ctx *ctx, struct arena *a, struct look *l,
		struct err *e)
{
	const struct task_volume *v = &t->volume;
	int r;

	*l = (struct look){ .req = volume_req_of(a, v->want, v->uuid, v->machine) };
	r = mkfs_check(&l->req.mkfs, 0, e);
	if (r < 0)
		return r;
	r = volume_disks(v->want, ctx, a, &l->disks, &l->missing, e);
	l->absent = r == -ENODEV;
	if (r == 0)
		r = check_disks_are_own(v->want, ctx, a, &l->disks, e);
	if (r == 0) {
		r = disk_have_nodes(ctx->disks, &l->disks, e);
		l->absent = r == -ENODEV;
	}
	if (r == 0)
		r = judge_disks(ctx->disks, a, &l->req, &l->disks, &l->now, e);
	if (r == 0)
		r = check_tools(t, ctx, l, e);
	/* the volume lacks a disk that is to come, and another disk has its place */
	l->too_early = r < 0 && l->missing && e->kind == ERR_REFUSED;
	return r;
}

/* Returns whether a disk's number is a guess, as it is while other disks are still to come. */
static bool is_guess(const struct task *t, const struct look *l)
{
	return l->missing && t->volume.want->nth >= 0 && l->now.verdict == VERDICT_FORMAT &&
	       str_has_prefix(l->disks.v[0].name, "nvme");
}

static int volume_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct err why;
	struct look l;
	int r;

	/* an image's disks would be those of the machine that builds it */
	if (ctx->image_mode || !ctx->disks)
		return TASK_EQUAL;
	r = look(t, ctx, a, &l, &why);
	/* only the instance's metadata or EC2 could name such a disk */
	if (l.absent && ctx->spares_runtime && t->volume.want->disks != NODE_DISKS_PATHS &&
	    disk_show_no_ids(ctx->disks, a))
		return TASK_EQUAL;
	if (r < 0 && l.too_early)
		return task_differs(diff, "%s is not here yet", l.missing);
	if (r < 0 && !l.absent) {
		*e = why;
		return r;
	}
	if (check_mount_point(t->volume.want, ctx, a, &l.disks, e) < 0)
		return err_code(e);
	if (r < 0)
		return task_differs(diff, "%s", why.msg);
	if (l.missing && l.now.verdict != VERDICT_OURS)
		return task_differs(diff, "%s is not here yet", l.missing);
	return say_difference(t, a, &l.disks, &l.now, diff);
}

/* Takes over a persistent volume's own file system: the mount unit must have its UUID. */
static int adopt(const struct task *t, struct task_ctx *ctx, struct arena *a,
		 const struct volume_req *req, const struct disks *disks, const char *uuid,
		 struct task_run *run, struct err *e)
{
	int r = disk_format_record(ctx->disks, a, req, disks, uuid, true, e);

	if (r < 0)
		return r;
	run->final = true;
	return err_fail(e, ERR_BUSY, EAGAIN,
			"%s on %s has UUID %s, planned was %s: recorded, the next run mounts it",
			req->mkfs.fs, disks->v[0].name, uuid, t->volume.uuid);
}

static int64_t patience_of(const struct task *t)
{
	return t->volume.want->device_timeout_ns ? t->volume.want->device_timeout_ns : PATIENCE_NS;
}

static bool is_out_of_patience(const struct task *t, const struct task_run *run)
{
	return run->since_ns && dur_now() - run->since_ns >= patience_of(t);
}

static int wait_for(const struct task *t, struct task_run *run, const char *what, int64_t pause_ns)
{
	autoarena struct arena *a = arena_new_empty();

	return task_wait(run, dur_now() + pause_ns, "%s, waiting up to %s", what,
			 dur_human(a, patience_of(t)));
}

static int wait_or_give_up(const struct task *t, struct task_run *run, const struct err *absent,
			   struct err *e)
{
	autoarena struct arena *a = arena_new_empty();

	if (!is_out_of_patience(t, run))
		return wait_for(t, run, absent->msg, LOOK_AGAIN_NS);
	*e = *absent;
	run->final = true;
	err_note(e, "got", "no such disk for %s", dur_human(a, patience_of(t)));
	return err_code(e);
}

static int volume_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct err why;
	struct look l;
	int r = look(t, ctx, a, &l, &why);

	if (r < 0 && l.absent)
		return wait_or_give_up(t, run, &why, e);
	if (r < 0 && l.too_early && !is_out_of_patience(t, run))
		return wait_for(t, run, arena_printf(a, "%s is not here", l.missing),
				LOOK_AGAIN_NS);
	if (r < 0) {
		*e = why;
		return r;
	}
	/* some mappings promise disks that this instance type lacks: then the present disks are enough */
	if (l.missing && l.now.verdict != VERDICT_OURS && !is_out_of_patience(t, run))
		return wait_for(t, run, arena_printf(a, "%s is not here", l.missing),
				LOOK_AGAIN_NS);
	if (is_guess(t, &l)) {
		run->final = true;
		return err_fail(e, ERR_SYSTEM, ENODEV,
				"which is disk %lld of the instance store cannot be told: %s has "
				"no disk",
				(long long)t->volume.want->nth, l.missing);
	}
	if (ctx->guard)
		r = ctx->guard->may_use(ctx->guard->arg, t->volume.want, &l.disks, e);
	if (r < 0 && e->kind == ERR_NET && !is_out_of_patience(t, run))
		return wait_for(t, run, e->msg, ASK_AGAIN_NS);
	if (r < 0)
		return r;
	if (l.now.verdict == VERDICT_ADOPT)
		return adopt(t, ctx, a, &l.req, &l.disks, l.now.uuid, run, e);
	return disk_format(ctx->disks, a, &l.req, &l.disks, e);
}

static int volume_compare(const struct task *t, const struct task *was, struct task_ctx *ctx,
			  struct task_diff *diff)
{
	if (ctx->image_mode)
		return TASK_EQUAL;
	if (!was)
		return task_missing(diff, "no file system");
	return str_eq(was->volume.uuid, t->volume.uuid)
		       ? TASK_EQUAL
		       : task_differs(diff, "another file system is wanted there");
}

static void volume_inputs(const struct task *t, struct digest_ctx *d)
{
	digest_update(d, t->volume.uuid, strlen(t->volume.uuid) + 1);
}

const struct task_ops task_volume_ops = {
	.kind = "volume",
	.is_preflight = true,
	.check = volume_check,
	.apply = volume_apply,
	.compare = volume_compare,
	.inputs = volume_inputs,
};
