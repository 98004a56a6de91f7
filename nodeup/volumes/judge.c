#include "nodeup/volumes/judge.h"

#include <string.h>
#include "nodeup/volumes/claim.h"
#include "nodeup/volumes/ephemeral.h"
#include "nodeup/volumes/disk_probe.h"
#include "nodeup/volumes/raid.h"

static bool is_wanted_fs(const struct volume_req *req, const struct probe *p)
{
	return p->state == PROBE_DATA && p->fs && !p->incomplete &&
	       strcmp(p->fs, mkfs_kind(req->mkfs.fs)->type) == 0;
}

static bool all_carry(const struct volume_req *req, const struct probe *probes, size_t n,
		      const char *uuid)
{
	for (size_t i = 0; i < n; i++)
		if (!is_wanted_fs(req, &probes[i]) || strcmp(probes[i].uuid, uuid) != 0)
			return false;
	return *uuid != '\0';
}

/* One judgement: of a volume's disks, or of the array that they form. */
struct look {
	const struct disk_host *h;
	struct arena *a;
	const struct volume_req *req;
	const struct disks *disks;
	const struct disks *members;   /* members of the array; without an array, as `disks` */
	const struct disk_record *rec; /* NULL: none */
};

/* Returns whether a killed mkfs or mdadm of ours may have left this content. Such content has no signature, or the
 * tool's own. */
static bool may_be_unfinished(const struct volume_req *req, const struct probe *p)
{
	return p->unknown || (p->fs &&
			      (strcmp(p->fs, mkfs_kind(req->mkfs.fs)->type) == 0 ||
			       strcmp(p->fs, RAID_MEMBER) == 0) &&
			      (!*p->uuid || strcmp(p->uuid, req->mkfs.uuid) == 0));
}

static bool is_recorded(const struct look *l, const struct disk *d)
{
	const char *identity = disk_identity(l->a, l->h, d);

	return identity && strv_has(&l->rec->disks, identity);
}

/* Returns whether a run on this machine began the volume, on any disks, and was interrupted. */
static bool has_begun(const struct look *l)
{
	return l->rec && !l->rec->done && strcmp(l->rec->machine, l->req->machine) == 0;
}

/* Returns whether a run began on this very disk when it was blank, and was interrupted. */
static bool is_begun(const struct look *l, size_t i)
{
	const struct volume_req *req = l->req;
	const struct disk_record *rec = l->rec;

	if (!has_begun(l) || strcmp(rec->fs, req->mkfs.fs) != 0 ||
	    strcmp(rec->uuid, req->mkfs.uuid) != 0)
		return false;
	if (l->members == l->disks)
		return is_recorded(l, &l->disks->v[i]);
	for (size_t k = 0; k < l->members->n; k++)
		if (!is_recorded(l, &l->members->v[k]))
			return false;
	return true;
}

/* Words the error for a disk that is left alone. All such errors have the same form. */
static int leave_alone(struct err *e, enum err_kind kind, struct arena *a,
		       const struct volume_req *req, const struct disk *d, const char *why)
{
	int r = err_fail(e, kind, 0, "disk %s for %s: %s; nothing was written", d->name, req->name,
			 why);

	err_note(e, "is", "%s%s%s", disk_describe(a, d),
		 req->asked && *req->asked ? "; asked by " : "", req->asked ? req->asked : "");
	return r;
}

/* Words which of the recorded disks are not here while others of them are; NULL: all or none are here. */
static const char *lost_disks(const struct look *l)
{
	const bool made = l->rec && l->rec->done && str_eq(l->rec->machine, l->req->machine);
	const struct strv before = made ? disk_record_serials(l->a, l->rec) : (struct strv){ 0 };
	struct strv gone = { 0 };

	for (size_t i = 0; i < before.n; i++) {
		bool is_here = false;

		for (size_t k = 0; k < l->members->n; k++)
			is_here |= strcmp(before.v[i], l->members->v[k].serial) == 0;
		if (!is_here)
			strv_add(l->a, &gone, before.v[i]);
	}
	if (gone.n == 0 || gone.n == before.n)
		return NULL;
	return arena_printf(l->a, "%s of the volume's disks %s not here",
			    strv_join(l->a, &gone, ", "), gone.n == 1 ? "is" : "are");
}

/* Fails if a volume that cannot do without any of its disks has lost one. */
static int not_in_part(const struct look *l, struct err *e)
{
	const char *raid = l->req->mkfs.raid, *lost = lost_disks(l);
	int r;

	if (!lost || (raid && !str_eq(raid, "raid0")))
		return 0;
	r = leave_alone(e, ERR_REFUSED, l->a, l->req, &l->members->v[0], lost);
	err_note(e, "do", "replace the instance: what was on the volume cannot be read any more");
	return r;
}

/* why: why the disk does not count as a disk as EC2 made it; or NULL. */
static int refuse_data(const struct look *l, const struct disk *d, const struct probe *p,
		       const char *why, struct err *e)
{
	const struct volume_req *req = l->req;
	const char *lost = lost_disks(l);
	int r = leave_alone(e, ERR_REFUSED, l->a, req, d, lost ? lost : "not blank");

	err_note(e, "has", "%s; wanted blank%s%s", p->has, req->persist ? " or " : "",
		 req->persist ? req->mkfs.fs : "");
	if (p->unknown && has_begun(l))
		err_note(e, "ruled out",
			 "an interrupted %s of ours: %s says that one began, but not on this disk "
			 "in this boot",
			 mkfs_kind(l->rec->fs)->tool, disk_record_path(l->a, req->name));
	if (why)
		err_note(
			e, "ruled out",
			"a file system made by EC2 and mounted by cloud-init, which counts as blank: %s",
			why);
	err_note(e, "do", "name the right disk, or wipe it yourself: nodeup has no --force");
	if (why && p->fs)
		err_note(e, "next",
			 "if nothing on it is yours: umount " EPHEMERAL_POINT
			 ", remove its line of /etc/fstab, wipefs -a /dev/%s",
			 d->name);
	return r;
}

static int refuse_unreadable(struct err *e, struct arena *a, const struct volume_req *req,
			     const struct disk *d, const struct probe *p)
{
	int r = leave_alone(e, ERR_SYSTEM, a, req, d, "it cannot be read");

	err_note(e, "got", "%s", p->has);
	err_note(e, "do", "replace the disk: what cannot be read is not known to be blank");
	return r;
}

int judge_refuse_used(struct err *e, struct arena *a, const struct volume_req *req,
		      const struct disk *d, const char *who)
{
	int r = leave_alone(e, ERR_REFUSED, a, req, d, who);

	err_note(e, "do", "name another disk, or free this one");
	return r;
}

static int may_format(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		      const struct disk *d, bool is_mounted, struct err *e)
{
	const struct mkfs_kind *kind = mkfs_kind(req->mkfs.fs);
	const char *who = is_mounted ? NULL : claim_of(h, a, d);
	char size[STR_SIZE_MAX], least[STR_SIZE_MAX];

	if (who)
		return judge_refuse_used(e, a, req, d, who);
	if (d->read_only)
		return leave_alone(e, ERR_CONFIG, a, req, d, "it is read-only");
	if (d->size < kind->size_min)
		return leave_alone(e, ERR_CONFIG, a, req, d,
				   arena_printf(a, "too small: %s, %s needs %s",
						str_size(size, d->size), kind->fs,
						str_size(least, kind->size_min)));
	return 0;
}

/* Returns whether a disk is as EC2 made it. A volume that outlives the instance is not put on such a disk. */
static struct ephemeral look_at_ephemeral(const struct look *l, size_t i, const struct probe *p)
{
	struct ephemeral ret;

	ephemeral_look(l->h, l->a, &l->disks->v[i], p, has_begun(l) ? l->req->name : NULL, &ret);
	if (ret.is_new && l->req->persist)
		ret = (struct ephemeral){ .why = "the volume is to outlive the instance" };
	return ret;
}

static int judge_format(const struct look *l, const struct probe *probes, struct judged *ret,
			struct err *e)
{
	for (size_t i = 0; i < l->disks->n; i++) {
		const struct disk *d = &l->disks->v[i];
		const struct probe *p = &probes[i];
		const bool unfinished = p->state == PROBE_DATA && may_be_unfinished(l->req, p) &&
					is_begun(l, i);
		struct ephemeral ephemeral = { 0 };
		int r;

		if (p->state == PROBE_UNREADABLE)
			return refuse_unreadable(e, l->a, l->req, d, p);
		if (p->state != PROBE_BLANK && !unfinished)
			ephemeral = look_at_ephemeral(l, i, p);
		if (p->state != PROBE_BLANK && !unfinished && !ephemeral.is_new)
			return refuse_data(l, d, p, ephemeral.why, e);
		r = may_format(l->h, l->a, l->req, d, ephemeral.is_mounted, e);
		if (r < 0)
			return r;
		ret->again |= unfinished || ephemeral.is_cut;
		if (ephemeral.is_new)
			arena_push(l->a, ret->ephemeral.v, ret->ephemeral.n, *d);
	}
	return mkfs_check(&l->req->mkfs, l->members->n, e);
}

/* Refuses disks that have the right file system, but serve another purpose already. If a disk is ours by its record,
 * cloud-init's mount of it does not count. */
static int not_elsewhere(const struct look *l, bool is_cloud_inits, struct err *e)
{
	for (size_t i = 0; i < l->disks->n; i++) {
		const struct disk *d = &l->disks->v[i];
		const char *who = claim_elsewhere(l->h, l->a, d, l->req->path);

		if (who && !(is_cloud_inits && ephemeral_is_at_point(l->h, l->a, d, l->req->path)))
			return judge_refuse_used(e, l->a, l->req, d, who);
	}
	return 0;
}

static bool has_cloud_inits_line(const struct look *l, const char *uuid)
{
	for (size_t i = 0; i < l->members->n; i++)
		if (ephemeral_has_line(l->h, l->a, &l->members->v[i], uuid))
			return true;
	return false;
}

static bool is_among(const struct disks *disks, const struct disk *d)
{
	for (size_t i = 0; i < disks->n; i++)
		if (strcmp(disks->v[i].dev, d->dev) == 0 || strv_has(&disks->v[i].holders, d->name))
			return true;
	return false;
}

/* Returns whether the content of another device has the same UUID. */
static bool has_uuid(const struct look *l, const struct disk *d, const char *uuid)
{
	struct probe p;

	return disk_probe_signature(l->h, l->a, d, &p) && p.fs && strcmp(p.uuid, uuid) == 0 &&
	       (strcmp(p.fs, mkfs_kind(l->req->mkfs.fs)->type) == 0 ||
		strcmp(p.fs, RAID_MEMBER) == 0);
}

/* Returns whether a disk cannot be EC2's. We do not open such a disk, as that may surprise its owner. */
static bool is_virtual(const struct disk *d)
{
	static const char *const kinds[] = { "loop", "ram", "zram", "sr", "fd", "nbd" };

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_has_prefix(d->name, kinds[i]))
			return true;
	return false;
}

/* Returns the device with that UUID, the disk or one of its partitions; NULL: none. */
static const char *copy_on(const struct look *l, const struct disk *d, const char *uuid)
{
	if (has_uuid(l, d, uuid))
		return d->name;
	for (size_t i = 0; i < d->partitions.n; i++) {
		const char *name = d->partitions.v[i];
		const char *at = arena_printf(l->a, "/sys/block/%s/%s/dev", d->name, name);
		const char *dev = disk_attr(l->h, l->a, at);
		const struct disk part = { .name = name,
					   .node = arena_printf(l->a, "/dev/%s", name),
					   .dev = dev ? dev : "" };

		if (has_uuid(l, &part, uuid))
			return name;
	}
	return NULL;
}

/* Refuses a UUID that two disks have, such as a snapshot's copy and its original: a mount may take either. If the
 * right disk is in use already, there is no doubt. */
static int not_copied(const struct look *l, const char *uuid, struct err *e)
{
	struct disks all;
	int r;

	for (size_t i = 0; i < l->disks->n; i++)
		if (claim_of(l->h, l->a, &l->disks->v[i]))
			return 0;
	r = disk_list(l->h, l->a, &all, e);
	for (size_t i = 0; r == 0 && i < all.n; i++) {
		const struct disk *d = &all.v[i];
		const bool skip = is_virtual(d) || is_among(l->disks, d) || is_among(l->members, d);
		const char *copy = skip ? NULL : copy_on(l, d, uuid);

		if (!copy)
			continue;
		r = leave_alone(e, ERR_REFUSED, l->a, l->req, &l->disks->v[0],
				arena_printf(l->a, "%s (%s) has the same UUID", copy,
					     disk_describe(l->a, d)));
		err_note(e, "has", "UUID %s", uuid);
		err_note(e, "do", "detach the copy, or give it a UUID of its own");
	}
	return r;
}

static struct probe *probe_all(const struct look *l)
{
	struct probe *probes = arena_alloc(l->a, l->disks->n * sizeof(*probes));

	for (size_t i = 0; i < l->disks->n; i++)
		disk_probe(l->h, l->a, &l->disks->v[i], l->req->persist, &probes[i]);
	return probes;
}

/* Returns whether the disk is of an instance store, as the recorded disks were. Such a disk means that the earlier
 * disk is gone, and its file system too. */
static bool is_fresh_store(const struct look *l, const struct disk *d)
{
	const struct strv before = disk_record_serials(l->a, l->rec);

	for (size_t i = 0; i < before.n; i++)
		if (str_has_prefix(before.v[i], "vol"))
			return false;
	return d->kind == DISK_INSTANCE_STORE;
}

/* Notes where the recorded disk is now: a device number does not identify a disk. */
static void note_where(const struct look *l, struct err *e)
{
	struct err ignored;
	struct disks all;

	if (disk_list(l->h, l->a, &all, &ignored) < 0)
		return;
	for (size_t i = 0; i < all.n; i++)
		if (*all.v[i].serial && disk_record_serials(l->a, l->rec).n > 0 &&
		    !disk_record_rules_out(l->a, l->rec, all.v[i].serial))
			err_note(e, "got", "%s (%s) is the one of before", all.v[i].name,
				 disk_describe(l->a, &all.v[i]));
}

static int refuse_other(const struct look *l, const struct disk *d, const char *has, struct err *e)
{
	const char *path = disk_record_path(l->a, l->req->name);
	const struct strv serials = disk_record_serials(l->a, l->rec);
	int r = leave_alone(e, ERR_REFUSED, l->a, l->req, d, "it is not the disk of before");

	err_note(e, "want", "%s with UUID %s%s%s, says %s", l->rec->fs, l->rec->uuid,
		 serials.n ? ", made on " : "", strv_join(l->a, &serials, ", "), path);
	err_note(e, "has", "%s", has);
	note_where(l, e);
	err_note(e, "do",
		 "attach the disk of before; if this one is to replace it, remove %s, or ask "
		 "for it by volumeID",
		 path);
	return r;
}

/* Fails if a disk was made or adopted under the device name before, and another disk has the name now. */
static int not_replaced(const struct look *l, const struct probe *probes, struct err *e)
{
	const struct volume_req *req = l->req;
	const struct disk_record *rec = l->rec;

	if (!req->by_name || !rec || !rec->done || strcmp(rec->machine, req->machine) != 0)
		return 0;
	for (size_t i = 0; i < l->members->n; i++) {
		const struct disk *d = &l->members->v[i];

		/* a volume that need not persist may be made anew elsewhere, with its own UUID */
		if (disk_record_rules_out(l->a, rec, d->serial) && !is_fresh_store(l, d) &&
		    (req->persist || strcmp(rec->uuid, req->mkfs.uuid) == 0))
			return refuse_other(l, d, probes[0].has, e);
	}
	if (req->persist && is_wanted_fs(req, &probes[0]) && strcmp(probes[0].uuid, rec->uuid) != 0)
		return refuse_other(
			l, &l->disks->v[0],
			arena_printf(l->a, "%s with UUID %s", probes[0].has, probes[0].uuid), e);
	return 0;
}

static bool is_recorded_done(const struct look *l, const char *uuid)
{
	if (!l->rec || !l->rec->done || strcmp(l->rec->uuid, uuid) != 0 ||
	    strcmp(l->rec->machine, l->req->machine) != 0)
		return false;
	/* an equal UUID proves nothing: a snapshot's copy has it too */
	for (size_t i = 0; i < l->members->n; i++)
		if (disk_record_rules_out(l->a, l->rec, l->members->v[i].serial))
			return false;
	return true;
}

static int judge_plain(const struct look *l, const struct probe *probes, struct judged *ret,
		       struct err *e)
{
	const struct volume_req *req = l->req;
	struct judged j = { .uuid = req->mkfs.uuid, .on = *l->disks };
	int r = 0;

	if (all_carry(req, probes, l->disks->n, req->mkfs.uuid)) {
		j.verdict = VERDICT_OURS;
		j.recorded = is_recorded_done(l, j.uuid);
		j.is_cloud_inits = j.recorded && has_cloud_inits_line(l, j.uuid);
		r = not_in_part(l, e);
	} else if ((r = not_replaced(l, probes, e)) < 0) {
		return r;
	} else if (req->persist && all_carry(req, probes, l->disks->n, probes[0].uuid)) {
		j.verdict = VERDICT_ADOPT;
		j.uuid = probes[0].uuid;
	} else {
		j.verdict = VERDICT_FORMAT;
		r = judge_format(l, probes, &j, e);
	}
	if (r == 0 && j.verdict != VERDICT_FORMAT)
		r = not_elsewhere(l, j.is_cloud_inits, e);
	if (r == 0)
		r = not_copied(l, j.uuid, e);
	if (r < 0)
		return r;
	*ret = j;
	return 0;
}

static bool are_members(const struct look *l, const struct probe *probes)
{
	for (size_t i = 0; i < l->disks->n; i++)
		if (!str_eq(probes[i].fs, RAID_MEMBER) ||
		    strcmp(probes[i].uuid, l->req->mkfs.uuid) != 0)
			return false;
	return true;
}

/* Judges disks that are to become an array, or form one. If they form one, the array's content counts. */
static int judge_raid(struct look *l, struct judged *ret, struct err *e)
{
	const struct probe *probes = probe_all(l);
	struct disks array = { .v = arena_new(l->a, struct disk), .n = 1 };
	int r;

	if (!are_members(l, probes)) {
		r = judge_plain(l, probes, ret, e);
		if (r == 0)
			ret->raid = true;
		return r;
	}
	if (!raid_array(l->h, l->a, l->disks, &array.v[0])) {
		*ret = (struct judged){ .verdict = VERDICT_ASSEMBLE,
					.uuid = l->req->mkfs.uuid,
					.on = *l->disks };
		return not_in_part(l, e);
	}
	l->disks = &array;
	return judge_plain(l, probe_all(l), ret, e);
}

int judge_disks(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		const struct disks *disks, struct judged *ret, struct err *e)
{
	const struct mkfs_kind *kind = mkfs_kind(req->mkfs.fs);
	struct look l = { .h = h, .a = a, .req = req, .disks = disks, .members = disks };
	struct disk_record record;

	if (!kind)
		return mkfs_check(&req->mkfs, disks->n, e);
	if (disk_record_get(h->root_fd, a, req->name, &record))
		l.rec = &record;
	if (disks->n > 1 && kind->on_raid)
		return judge_raid(&l, ret, e);
	return judge_plain(&l, probe_all(&l), ret, e);
}
