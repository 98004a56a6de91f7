#include "nodeup/volumes/disk_format.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/print.h"
#include "nodeup/volumes/claim.h"
#include "nodeup/volumes/ephemeral.h"
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

/* Opens each disk. If a disk cannot be opened, l->n is its place in the list. */
static int open_disks(const struct disk_host *h, const struct disks *disks, int flags,
		      struct locks *l, struct err *e)
{
	int r = 0;

	if (disks->n > DISKS_MAX)
		return err_config(e, "%zu disks are too many for one volume", disks->n);
	while (l->n < disks->n && r == 0) {
		r = disk_open(h, &disks->v[l->n], flags | O_NONBLOCK, &l->fds[l->n], e);
		l->n += r == 0;
	}
	return r;
}

static int lock_disks(const struct disk_host *h, const struct disks *disks, struct locks *l,
		      struct err *e)
{
	int r = open_disks(h, disks, O_RDONLY, l, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < disks->n; i++) {
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

int disk_format_record(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		       const struct disks *disks, const char *uuid, bool done, struct err *e)
{
	struct disk_record rec = {
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
	return disk_record_set(h->root_fd, req->name, &rec, e);
}

/* Makes udev look at the disks. udev looks by itself when a writer closes a disk, but not while we hold the lock. */
static void tell_udev(const struct disk_host *h, struct arena *a, const struct disks *disks)
{
	for (size_t i = 0; i < disks->n; i++) {
		const char *path = arena_printf(a, "/sys/block/%s/uevent", disks->v[i].name);
		autoclose int fd = -1;
		struct err ignored;

		if (io_open(h->root_fd, path, O_WRONLY | O_NONBLOCK, &fd, &ignored) == 0)
			(void)!write(fd, "change", strlen("change"));
	}
}

/* Gives a tool the devices that are open here, so that renamed devices do no harm. by_name: gives their names, since
 * the tool tells the kernel which devices belong together, and the kernel later opens them by name. */
static int open_all(const struct disk_host *h, struct arena *a, const struct disks *on,
		    bool by_name, struct locks *open, struct strv *ret_nodes, struct err *e)
{
	int r = open_disks(h, on, O_RDONLY, open, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < on->n; i++) {
		char *node = arena_printf(a, "/proc/%d/fd/%d", (int)getpid(), open->fds[i]);

		if (by_name)
			r = disk_host_path(h, a, &on->v[i], &node, e);
		if (r < 0)
			return r;
		strv_add(a, ret_nodes, node);
	}
	return 0;
}

/* Returns whether both are one disk. An equal number is no proof: the kernel may have given it to another disk. */
static bool is_same_disk(const struct disk *x, const struct disk *y)
{
	return strcmp(x->dev, y->dev) == 0 && x->seq == y->seq && x->size == y->size &&
	       strcmp(x->serial, y->serial) == 0;
}

static bool are_same_disks(const struct disks *x, const struct disks *y)
{
	for (size_t i = 0; i < x->n && i < y->n; i++)
		if (!is_same_disk(&x->v[i], &y->v[i]))
			return false;
	return x->n == y->n;
}

/* Reads the disks from sysfs again: their holders have changed. */
static int look_again(const struct disk_host *h, struct arena *a, const struct disks *disks,
		      struct disks *ret, struct err *e)
{
	struct disks all, found = { 0 };
	int r = disk_list(h, a, &all, e);

	if (r < 0)
		return r;
	for (size_t i = 0; i < disks->n; i++)
		for (size_t k = 0; k < all.n; k++)
			if (is_same_disk(&all.v[k], &disks->v[i])) {
				all.v[k].node = disks->v[i].node;
				arena_push(a, found.v, found.n, all.v[k]);
			}
	if (found.n != disks->n)
		return err_fail(e, ERR_SYSTEM, ENODEV, "a disk of %s went away", disks->v[0].name);
	*ret = found;
	return 0;
}

/* Judges the disks once more while no other program can open them exclusively. So whatever was written since the
 * verdict is seen. */
static int judge_held(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		      const struct disks *disks, const struct judged *before, struct err *e)
{
	__attribute__((cleanup(locks_done))) struct locks held = { 0 };
	const struct disks *on = &before->on;
	struct judged now;
	struct disks same;
	int r = open_disks(h, on, O_RDONLY | O_EXCL, &held, e);

	if (r == -EBUSY)
		return err_fail(e, ERR_BUSY, EBUSY, "disk %s for %s: another program has taken it",
				on->v[0].name, req->name);
	/* while the disks are held, their numbers cannot be given to others */
	if (r == 0)
		r = look_again(h, a, disks, &same, e);
	if (r == 0)
		r = judge_disks(h, a, req, &same, &now, e);
	if (r < 0)
		return r;
	if (now.verdict == before->verdict && now.again == before->again &&
	    now.raid == before->raid && are_same_disks(&now.on, on))
		return 0;
	return err_fail(e, ERR_REFUSED, 0,
			"disk %s for %s: another program wrote to it just now; nothing was written",
			before->on.v[0].name, req->name);
}

/* Names the disks in a message as people do. */
static void name_disks(struct err *e, struct arena *a, const struct strv *nodes,
		       const struct disks *on)
{
	for (size_t i = 0; i < nodes->n; i++) {
		char *at = strstr(e->msg, nodes->v[i]);
		const char *rest = at ? arena_str(a, at + strlen(nodes->v[i])) : NULL;

		if (at)
			(void)print_to(at, sizeof(e->msg) - (size_t)(at - e->msg), "/dev/%s%s",
				       on->v[i].name, rest);
	}
}

/* Judges a last time, and then runs the tool that writes: mkfs on the file system's device, or mdadm. */
static int run_tool(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		    const struct disks *disks, const struct judged *now, struct err *e)
{
	__attribute__((cleanup(locks_done))) struct locks open = { 0 };
	const bool md = now->raid || now->verdict == VERDICT_ASSEMBLE;
	struct mkfs_req mkfs = req->mkfs;
	struct err ignored;
	int r;

	mkfs.again = now->again;
	mkfs.nodes = (struct strv){ 0 };
	r = open_all(h, a, &now->on, !md && mkfs_kind(mkfs.fs)->several, &open, &mkfs.nodes, e);
	if (r == 0)
		r = judge_held(h, a, req, disks, now, e);
	/* a record that stayed would excuse leftovers of another program */
	if (r < 0 && now->verdict == VERDICT_FORMAT && !now->again)
		(void)!disk_record_remove(h->root_fd, req->name, &ignored);
	if (r < 0)
		return r;
	if (now->raid)
		r = raid_create(&mkfs.nodes, mkfs.uuid, mkfs.lock_fd, e);
	else if (md)
		r = raid_assemble(&mkfs.nodes, mkfs.uuid, mkfs.lock_fd, e);
	else
		r = mkfs_run(&mkfs, e);
	if (r < 0)
		name_disks(e, a, &mkfs.nodes, &now->on);
	return r;
}

/* Makes or starts the array. Then judges the array's content like that of any disk. */
static int make_array(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		      struct disks *disks, struct judged *now, struct err *e)
{
	int r = run_tool(h, a, req, disks, now, e);

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

/* Drops the record of a disk on which our tool failed without a trace. Bytes that appear there from now on are
 * another program's, and no record may excuse them. */
static void forget_if_blank(const struct disk_host *h, struct arena *a,
			    const struct volume_req *req, const struct disks *disks)
{
	struct err ignored;
	struct judged now;
	struct disks all;

	if (look_again(h, a, disks, &all, &ignored) == 0 &&
	    judge_disks(h, a, req, &all, &now, &ignored) == 0 && now.verdict == VERDICT_FORMAT &&
	    !now.again)
		(void)!disk_record_remove(h->root_fd, req->name, &ignored);
}

/* Checks for uses that no table of the kernel shows, before anything is recorded. */
static int not_in_use(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		      const struct disks *on, struct err *e)
{
	for (size_t i = 0; i < on->n; i++) {
		const char *who = claim_now(h, a, &on->v[i]);

		if (who)
			return judge_refuse_used(e, a, req, &on->v[i], who);
	}
	return 0;
}

static int run_tools(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		     struct disks *disks, struct judged *now, struct err *e)
{
	int r = 0;

	if (now->raid || now->verdict == VERDICT_ASSEMBLE)
		r = make_array(h, a, req, disks, now, e);
	if (r == 0 && now->verdict == VERDICT_FORMAT) {
		r = run_tool(h, a, req, disks, now, e);
		if (r == 0)
			r = judge_disks(h, a, req, disks, now, e);
	}
	return r;
}

/* Makes the file system. Afterwards trusts only what it reads from the disks. */
static int make_filesystem(const struct disk_host *h, struct arena *a, const struct volume_req *req,
			   struct disks *disks, struct judged *now, struct err *e)
{
	const bool format = now->verdict == VERDICT_FORMAT;
	int r = not_in_use(h, a, req, &now->on, e);

	if (r == 0 && format)
		r = disk_format_record(h, a, req, disks, req->mkfs.uuid, false, e);
	if (r < 0)
		return r;
	r = run_tools(h, a, req, disks, now, e);
	if (r == 0 && now->verdict != VERDICT_OURS)
		r = err_fail(e, ERR_SYSTEM, EIO, "%s said it was done, but %s is not there",
			     mkfs_kind(req->mkfs.fs)->tool, req->mkfs.fs);
	if (r < 0 && format)
		forget_if_blank(h, a, req, disks);
	if (r < 0)
		return r;
	return disk_format_record(h, a, req, disks, req->mkfs.uuid, true, e);
}

/* Disks that were unmounted, with their lines of fstab. */
struct unmounted {
	struct disk d;
	struct fstab line;
};

struct all_unmounted {
	struct unmounted *v;
	size_t n;
};

static int unmount_all(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		       const struct disks *on, struct all_unmounted *ret, struct err *e)
{
	for (size_t i = 0; i < on->n; i++) {
		struct fstab line;
		int r;

		if (claim_mounts(h, a, &on->v[i]).n == 0)
			continue;
		r = ephemeral_line(h, a, &on->v[i], &line, e);
		if (r == 0 && !line.cloud)
			r = judge_refuse_used(e, a, req, &on->v[i], "mounted on " EPHEMERAL_POINT);
		if (r == 0)
			r = ephemeral_unmount(h, &on->v[i], e);
		if (r == -EBUSY)
			return judge_refuse_used(e, a, req, &on->v[i],
						 "mounted on " EPHEMERAL_POINT
						 ", and in use there");
		if (r < 0)
			return r;
		arena_push(a, ret->v, ret->n, (struct unmounted){ on->v[i], line });
	}
	return 0;
}

/* Mounts the disks again as before, if they were unmounted in vain. */
static void mount_all(const struct disk_host *h, struct arena *a, const struct all_unmounted *was,
		      struct err *e)
{
	for (size_t i = 0; i < was->n; i++) {
		struct err why;

		if (ephemeral_mount(h, a, &was->v[i].d, &was->v[i].line, &why) < 0 &&
		    claim_mounts(h, a, &was->v[i].d).n == 0)
			err_note(e, "next",
				 "mount " EPHEMERAL_POINT ": it was unmounted, and could not be "
				 "mounted again: %s",
				 why.msg);
	}
}

/* Opens all disks for writing before any is changed: if one cannot be written to, the others lose nothing. */
static int hold_all(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		    const struct disks *on, struct locks *held, struct err *e)
{
	int r = open_disks(h, on, O_RDWR | O_EXCL, held, e);

	return r == -EBUSY ? judge_refuse_used(e, a, req, &on->v[held->n], CLAIM_UNNAMED) : r;
}

/* Judges the disks once more while the kernel lets nobody mount them, so that a new disk stays new. Then erases the
 * magic number of each, so that nobody can mount it; from then on it counts as a disk that we began on. *ret_begun:
 * something was, or may have been, written to a disk. */
static int prove_and_erase(const struct disk_host *h, struct arena *a, const struct volume_req *req,
			   struct disks *disks, const struct disks *ephemeral, bool *ret_begun,
			   struct err *e)
{
	__attribute__((cleanup(locks_done))) struct locks held = { 0 };
	struct judged now;
	struct err ignored;
	int r = hold_all(h, a, req, ephemeral, &held, e);

	if (r == 0)
		r = look_again(h, a, disks, disks, e);
	if (r == 0)
		r = judge_disks(h, a, req, disks, &now, e);
	if (r < 0)
		return r;
	if (now.verdict != VERDICT_FORMAT || !are_same_disks(&now.ephemeral, ephemeral))
		return err_fail(e, ERR_REFUSED, 0,
				"disk %s for %s: another program wrote to it just now; nothing was "
				"written",
				ephemeral->v[0].name, req->name);
	*ret_begun = now.again;
	r = disk_format_record(h, a, req, disks, req->mkfs.uuid, false, e);
	for (size_t i = 0; i < ephemeral->n && r == 0; i++)
		r = ephemeral_forget(h, a, &ephemeral->v[i], e);
	for (size_t i = 0; i < ephemeral->n && r == 0; i++) {
		*ret_begun = true;
		r = ephemeral_erase(held.fds[i], &ephemeral->v[i], e);
	}
	/* a record excuses later content, so it must go if nothing was begun on its disks */
	if (r < 0 && !*ret_begun)
		(void)!disk_record_remove(h->root_fd, req->name, &ignored);
	return r;
}

/* Prepares disks that are as EC2 made them; *now is their state afterwards. */
static int take_ephemeral(const struct disk_host *h, struct arena *a, const struct volume_req *req,
			  struct disks *disks, struct judged *now, struct err *e)
{
	const struct disks ephemeral = now->ephemeral;
	struct all_unmounted was = { 0 };
	bool begun = false;
	int r = unmount_all(h, a, req, &ephemeral, &was, e);

	if (r == 0)
		r = prove_and_erase(h, a, req, disks, &ephemeral, &begun, e);
	if (r < 0 && !begun)
		mount_all(h, a, &was, e);
	if (r < 0)
		return r;
	r = judge_disks(h, a, req, disks, now, e);
	return r < 0 ? err_wrap(e, "without the number of its superblock, which is gone") : 0;
}

/* Removes cloud-init's line, which would mount our disk at the next boot. */
static int take_back(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		     const struct disks *disks, struct err *e)
{
	int r = 0;

	for (size_t i = 0; i < disks->n && r == 0; i++)
		r = ephemeral_take_back(h, a, &disks->v[i], req->mkfs.uuid, req->path, e);
	return r;
}

static int format_locked(const struct disk_host *h, struct arena *a, const struct volume_req *req,
			 struct disks *disks, struct err *e)
{
	__attribute__((cleanup(locks_done))) struct locks locks = { 0 };
	struct volume_req locked = *req;
	struct judged now;
	int r = lock_disks(h, disks, &locks, e);

	if (r == 0)
		r = look_again(h, a, disks, disks, e);
	if (r == 0)
		r = judge_disks(h, a, req, disks, &now, e);
	if (r == 0 && now.ephemeral.n)
		r = take_ephemeral(h, a, req, disks, &now, e);
	if (r < 0 || now.verdict == VERDICT_ADOPT)
		return r;
	/* the tool keeps one lock: that is enough, as the next run waits for all locks */
	locked.mkfs.lock_fd = locks.fds[0];
	r = now.verdict == VERDICT_OURS ? disk_format_record(h, a, req, disks, now.uuid, true, e)
					: make_filesystem(h, a, &locked, disks, &now, e);
	return r < 0 ? r : take_back(h, a, req, disks, e);
}

int disk_format(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		const struct disks *disks, struct err *e)
{
	struct disks now = *disks;
	int r = format_locked(h, a, req, &now, e);

	if (r == 0)
		tell_udev(h, a, &now);
	return r;
}
