#include "nodeup/volumes/format.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/volumes/claim.h"
#include "nodeup/volumes/raid.h"

enum { DISKS_MAX = 64 };

struct locks {
	int fds[DISKS_MAX];
	size_t n;
};

static void locks_done(struct locks *l)
{
	for (size_t i = 0; i < l->n; i++)
		(void)close(l->fds[i]);
}

static int lock_disks(const struct disk_host *h, const struct disks *disks, struct locks *l,
		      struct err *e)
{
	if (disks->n > DISKS_MAX)
		return err_config(e, "%zu disks are too many for one volume", disks->n);
	for (size_t i = 0; i < disks->n; i++) {
		int r = disk_open(h, &disks->v[i], O_RDONLY | O_NONBLOCK, &l->fds[i], e);

		if (r < 0)
			return r;
		l->n++;
		if (flock(l->fds[i], LOCK_EX | LOCK_NB) == 0)
			continue;
		if (errno == EWOULDBLOCK)
			return err_fail(e, ERR_BUSY, EBUSY,
					"disk %s for %s: another program has locked it",
					disks->v[i].name, disks->v[i].node);
		return err_sys(e, "lock disk %s", disks->v[i].name);
	}
	return 0;
}

int format_record(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		  const struct disks *disks, const char *uuid, bool done, struct err *e)
{
	struct record rec = {
		.done = done,
		.machine = req->machine,
		.fs = req->mkfs.fs,
		.uuid = uuid,
		.label = req->mkfs.label,
	};

	for (size_t i = 0; i < disks->n; i++) {
		const char *identity = disk_identity(a, h, &disks->v[i]);

		if (identity)
			strv_add(a, &rec.disks, identity);
	}
	return record_set(h->root_fd, req->name, &rec, e);
}

/* udev looks at a disk when it is closed by a writer, but not while we hold the lock. */
static void tell_udev(const struct disk_host *h, struct arena *a, const struct disks *disks)
{
	for (size_t i = 0; i < disks->n; i++) {
		const char *path = arena_printf(a, "/sys/block/%s/uevent", disks->v[i].name);
		autoclose int fd = -1;
		struct err ignored;

		if (io_open(h->root_fd, path, O_WRONLY, &fd, &ignored) == 0)
			(void)!write(fd, "change", strlen("change"));
	}
}

/* What mkfs is given is the device that is open here, whatever becomes of its name. Where it tells the
 * kernel which devices belong together, the kernel opens them by that name later: it is their own. */
static int open_all(const struct disk_host *h, struct arena *a, const struct disks *on,
		    bool by_name, struct locks *open, struct strv *ret_nodes, struct err *e)
{
	for (size_t i = 0; i < on->n; i++) {
		int r = disk_open(h, &on->v[i], O_RDONLY | O_NONBLOCK, &open->fds[i], e);

		if (r < 0)
			return r;
		open->n++;
		strv_add(a, ret_nodes,
			 by_name ? disk_host_path(h, a, &on->v[i])
				 : arena_printf(a, "/proc/%d/fd/%d", (int)getpid(), open->fds[i]));
	}
	return 0;
}

/* Look once more while nobody else can take them: what was written since they were judged is seen. */
static int judge_held(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		      const struct disks *disks, const struct judged *before, struct err *e)
{
	__attribute__((cleanup(locks_done))) struct locks held = { 0 };
	const struct disks *on = &before->on;
	struct disks mine = { 0 };
	struct judged now;
	int r = 0;

	for (size_t i = 0; i < on->n && r == 0; i++) {
		r = claim_open(h, &on->v[i], &held.fds[i], e);
		held.n += r == 0;
	}
	if (r == -EBUSY)
		return err_fail(e, ERR_BUSY, EBUSY, "disk %s for %s: another program has taken it",
				on->v[0].name, req->name);
	for (size_t i = 0; i < disks->n && r == 0; i++) {
		arena_push(a, mine.v, mine.n, disks->v[i]);
		mine.v[i].held = true;
	}
	if (r == 0)
		r = judge_disks(h, a, req, &mine, &now, e);
	if (r < 0)
		return r;
	if (now.verdict == VERDICT_FORMAT && now.again == before->again)
		return 0;
	return err_fail(e, ERR_REFUSED, 0,
			"disk %s for %s: somebody wrote to it just now; nothing was written",
			before->on.v[0].name, req->name);
}

/* Messages name the disks as people do. */
static void name_disks(struct err *e, struct arena *a, const struct strv *nodes,
		       const struct disks *on)
{
	for (size_t i = 0; i < nodes->n; i++) {
		char *at = strstr(e->msg, nodes->v[i]);
		const char *rest = at ? arena_str(a, at + strlen(nodes->v[i])) : NULL;

		if (at)
			(void)snprintf(at, sizeof(e->msg) - (size_t)(at - e->msg), "/dev/%s%s",
				       on->v[i].name, rest);
	}
}

static int run_mkfs(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		    const struct disks *disks, const struct judged *now, struct err *e)
{
	__attribute__((cleanup(locks_done))) struct locks open = { 0 };
	struct mkfs_req mkfs = req->mkfs;
	struct err ignored;
	int r;

	mkfs.again = now->again;
	mkfs.nodes = (struct strv){ 0 };
	r = open_all(h, a, &now->on, mkfs_kind(mkfs.fs)->several, &open, &mkfs.nodes, e);
	if (r == 0)
		r = judge_held(h, a, req, disks, now, e);
	/* our record, which excuses what mkfs leaves, would be of no mkfs */
	if (r < 0 && !now->again)
		(void)!record_remove(h->root_fd, req->name, &ignored);
	if (r < 0)
		return r;
	r = mkfs_run(&mkfs, e);
	if (r < 0)
		name_disks(e, a, &mkfs.nodes, &now->on);
	return r;
}

/* The disks are those of sysfs again: who holds them has changed. */
static int look_again(const struct disk_host *h, struct arena *a, const struct disks *disks,
		      struct disks *ret, struct err *e)
{
	struct disks all, found = { 0 };
	int r = disk_list(h, a, &all, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < disks->n; i++)
		for (size_t k = 0; k < all.n; k++)
			if (strcmp(all.v[k].dev, disks->v[i].dev) == 0) {
				all.v[k].node = disks->v[i].node;
				arena_push(a, found.v, found.n, all.v[k]);
			}
	if (found.n != disks->n)
		return err_fail(e, ERR_SYSTEM, ENODEV, "a disk of %s went away", disks->v[0].name);
	*ret = found;
	return 0;
}

/* An array first, where one is needed; what it carries is judged as any disk is. */
static int make_array(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		      struct disks *disks, struct judged *now, struct err *e)
{
	int r = now->raid ? raid_create(h, disks, req->mkfs.uuid, e)
			  : raid_assemble(h, disks, req->mkfs.uuid, e);

	if (r == 0)
		r = look_again(h, a, disks, disks, e);
	if (r == 0)
		r = judge_disks(h, a, req, disks, now, e);
	if (r < 0)
		return r;
	if (now->raid || now->verdict == VERDICT_ASSEMBLE)
		return err_fail(e, ERR_SYSTEM, EIO,
				"mdadm said it was done, but there is no array");
	return 0;
}

/* Make it, and believe only what the disks say afterwards. */
static int make(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		struct disks *disks, struct judged *now, struct err *e)
{
	int r = 0;

	if (now->verdict == VERDICT_FORMAT)
		r = format_record(h, a, req, disks, req->mkfs.uuid, false, e);
	if (r == 0 && (now->raid || now->verdict == VERDICT_ASSEMBLE))
		r = make_array(h, a, req, disks, now, e);
	if (r == 0 && now->verdict == VERDICT_FORMAT) {
		r = run_mkfs(h, a, req, disks, now, e);
		if (r == 0)
			r = judge_disks(h, a, req, disks, now, e);
	}
	if (r < 0)
		return r;
	if (now->verdict != VERDICT_OURS)
		return err_fail(e, ERR_SYSTEM, EIO, "%s said it was done, but %s is not there",
				mkfs_kind(req->mkfs.fs)->tool, req->mkfs.fs);
	return format_record(h, a, req, disks, req->mkfs.uuid, true, e);
}

static int format_locked(const struct disk_host *h, struct arena *a, const struct volume_req *req,
			 struct disks *disks, struct err *e)
{
	__attribute__((cleanup(locks_done))) struct locks locks = { 0 };
	struct judged now;
	int r = lock_disks(h, disks, &locks, e);

	if (r == 0)
		r = look_again(h, a, disks, disks, e);
	if (r == 0)
		r = judge_disks(h, a, req, disks, &now, e);
	if (r < 0 || now.verdict == VERDICT_ADOPT)
		return r;
	if (now.verdict == VERDICT_OURS)
		return format_record(h, a, req, disks, now.uuid, true, e);
	return make(h, a, req, disks, &now, e);
}

int format_disks(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		 const struct disks *disks, struct err *e)
{
	struct disks now = *disks;
	int r = format_locked(h, a, req, &now, e);

	if (r == 0)
		tell_udev(h, a, &now);
	return r;
}
