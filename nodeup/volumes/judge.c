#include "nodeup/volumes/judge.h"

#include <string.h>
#include "nodeup/volumes/claim.h"
#include "nodeup/volumes/probe.h"

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

/* What our mkfs leaves when it is killed: no signature yet, or its own. */
static bool may_be_unfinished(const struct volume_req *req, const struct probe *p)
{
	return p->unknown || (p->fs && strcmp(p->fs, mkfs_kind(req->mkfs.fs)->type) == 0 &&
			      (!*p->uuid || strcmp(p->uuid, req->mkfs.uuid) == 0));
}

/* Whether we began on this very disk when it was blank, and were interrupted. */
static bool is_unfinished(const struct disk_host *h, struct arena *a, const struct volume_req *req,
			  const struct record *rec, const struct disk *d, const struct probe *p)
{
	return rec && !rec->done && strcmp(rec->machine, req->machine) == 0 &&
	       strcmp(rec->fs, req->mkfs.fs) == 0 && strcmp(rec->uuid, req->mkfs.uuid) == 0 &&
	       strv_has(&rec->disks, disk_identity(a, h, d)) && p->state == PROBE_DATA &&
	       may_be_unfinished(req, p);
}

/* The message of a disk that is left alone, in the one form that all of them have. */
static int leave_alone(struct err *e, enum err_kind kind, struct arena *a,
		       const struct volume_req *req, const struct disk *d, const char *why)
{
	int r = err_fail(e, kind, 0, "disk %s for %s: %s; nothing was written", d->name, req->name,
			 why);

	err_note(e, "is", "%s%s%s", disk_describe(a, d),
		 req->asked && *req->asked ? "; asked by " : "", req->asked ? req->asked : "");
	return r;
}

static int refuse_data(struct err *e, struct arena *a, const struct volume_req *req,
		       const struct disk *d, const struct probe *p)
{
	int r = leave_alone(e, ERR_REFUSED, a, req, d, "not blank");

	err_note(e, "has", "%s; wanted blank%s%s", p->has, req->persist ? " or " : "",
		 req->persist ? req->mkfs.fs : "");
	err_note(e, "do", "name the right disk, or wipe it yourself: nodeup has no --force");
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

static int refuse_used(struct err *e, struct arena *a, const struct volume_req *req,
		       const struct disk *d, const char *who)
{
	int r = leave_alone(e, ERR_REFUSED, a, req, d, who);

	err_note(e, "do", "name another disk, or free this one");
	return r;
}

static int may_format(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		      const struct disk *d, struct err *e)
{
	const struct mkfs_kind *kind = mkfs_kind(req->mkfs.fs);
	const char *who = claim_of(h, a, d);

	if (who)
		return refuse_used(e, a, req, d, who);
	if (d->read_only)
		return leave_alone(e, ERR_CONFIG, a, req, d, "it is read-only");
	if (d->size < kind->size_min)
		return leave_alone(e, ERR_CONFIG, a, req, d,
				   arena_printf(a, "too small: %s, %s needs %s",
						disk_size(a, d->size), kind->fs,
						disk_size(a, kind->size_min)));
	return 0;
}

static int judge_format(const struct disk_host *h, struct arena *a, const struct volume_req *req,
			const struct disks *disks, const struct probe *probes,
			const struct record *rec, bool *ret_again, struct err *e)
{
	*ret_again = false;
	for (size_t i = 0; i < disks->n; i++) {
		const struct disk *d = &disks->v[i];
		const struct probe *p = &probes[i];
		const bool unfinished = is_unfinished(h, a, req, rec, d, p);
		int r;

		if (p->state == PROBE_UNREADABLE)
			return refuse_unreadable(e, a, req, d, p);
		if (p->state != PROBE_BLANK && !unfinished)
			return refuse_data(e, a, req, d, p);
		r = may_format(h, a, req, d, e);
		if (r < 0)
			return r;
		*ret_again |= unfinished;
	}
	return mkfs_check(&req->mkfs, disks->n, e);
}

int judge_disks(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		const struct disks *disks, struct judged *ret, struct err *e)
{
	struct probe *probes = arena_alloc(a, disks->n * sizeof(*probes));
	struct judged j = { .uuid = req->mkfs.uuid };
	struct record record;
	const bool has_record = record_get(h->root_fd, a, req->name, &record);
	int r = 0;

	if (!mkfs_kind(req->mkfs.fs))
		return mkfs_check(&req->mkfs, disks->n, e);
	for (size_t i = 0; i < disks->n; i++)
		probe_disk(h, a, &disks->v[i], req->persist, &probes[i]);
	if (all_carry(req, probes, disks->n, req->mkfs.uuid)) {
		j.verdict = VERDICT_OURS;
		j.recorded = has_record && record.done && strcmp(record.uuid, j.uuid) == 0;
	} else if (req->persist && all_carry(req, probes, disks->n, probes[0].uuid)) {
		j.verdict = VERDICT_ADOPT;
		j.uuid = probes[0].uuid;
	} else {
		j.verdict = VERDICT_FORMAT;
		r = judge_format(h, a, req, disks, probes, has_record ? &record : NULL, &j.again,
				 e);
	}
	if (r < 0)
		return r;
	*ret = j;
	return 0;
}
