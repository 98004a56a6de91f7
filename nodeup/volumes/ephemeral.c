#include "nodeup/volumes/ephemeral.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/print.h"
#include "nodeup/base/proc.h"
#include "nodeup/volumes/claim.h"
#include "nodeup/volumes/disk_record.h"
#include "nodeup/volumes/extfs.h"
#include "nodeup/volumes/mounts.h"
#include "nodeup/volumes/users.h"

struct look {
	const struct disk_host *h;
	struct arena *a;
	const struct disk *d;
	const struct probe *p;
	const char *but;
	struct fstab lines;
	bool is_cut; /* a killed run of ours erased the superblock's magic number; nothing else may be missing */
	bool is_mounted;
};

/* Instance types whose first disk EC2 hands out with a file system, and how many disks they have, from ephemeral0
 * on. IMDS' mapping is from the launch: it may promise disks that the type lacks, and it lacks volumes that were
 * attached later under the name of such a disk. If the type has the disk, no other disk can have that name. */
static const struct {
	const char *type;
	unsigned int disks;
} types[] = {
	{ "c1.medium", 1 },  { "c1.xlarge", 4 },  { "c3.large", 2 },   { "c3.xlarge", 2 },
	{ "c3.2xlarge", 2 }, { "c3.4xlarge", 2 }, { "c3.8xlarge", 2 }, { "m1.small", 1 },
	{ "m1.medium", 1 },  { "m1.large", 2 },   { "m1.xlarge", 4 },  { "m2.xlarge", 1 },
	{ "m2.2xlarge", 1 }, { "m2.4xlarge", 2 }, { "m3.medium", 1 },  { "m3.large", 1 },
	{ "m3.xlarge", 2 },  { "m3.2xlarge", 2 },
};

static unsigned int count_of_type(const char *type)
{
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_eq(types[i].type, type))
			return types[i].disks;
	return 0;
}

static bool is_of_type(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	const unsigned int n = count_of_type(h->instance_type);

	for (unsigned int i = 0; i < n; i++) {
		const char *name = strmap_get(&h->mapping, arena_printf(a, "ephemeral%u", i));

		if (name && disk_name_eq(name, d->name))
			return true;
	}
	return false;
}

/* Returns whether EC2's name fits another disk too. A LUN does not count, as it is not EC2's. */
static bool has_twin(const struct look *l)
{
	struct disks all;
	struct err ignored;

	if (disk_list(l->h, l->a, &all, &ignored) < 0)
		return true;
	for (size_t i = 0; i < all.n; i++) {
		const struct disk *other = &all.v[i];

		if (!str_eq(other->dev, l->d->dev) && other->ec2_name &&
		    disk_name_eq(other->ec2_name, l->d->name) &&
		    (disk_may_be_ec2s(other) || other->volume_id))
			return true;
	}
	return false;
}

/* Each function from here on returns its objection to the disk, or NULL. */

static const char *not_of_store(struct look *l)
{
	if (l->d->kind != DISK_INSTANCE_STORE || l->d->volume_id)
		return "nothing says that it is of the instance store";
	if (!str_eq(l->d->model, DISK_MODEL_STORE)) {
		if (!is_of_type(l->h, l->a, l->d))
			return "nothing says that instances of this type have that disk";
		if (has_twin(l))
			return "another disk has its name";
	}
	if (l->d->partitions.n)
		return "it has partitions";
	return NULL;
}

static const char *not_as_made(struct look *l)
{
	if (l->is_cut)
		return NULL;
	if (!str_eq(l->p->fs, "ext3") && !str_eq(l->p->fs, "ext4"))
		return "EC2 makes no such file system";
	if (*l->p->label)
		return "it has a label";
	if (l->p->bad_checksum)
		return "its superblock is damaged";
	return NULL;
}

static const char *recorded(struct look *l)
{
	const char *identity = disk_identity(l->a, l->h, l->d);

	return disk_record_speaks_of(l->h->root_fd, l->a, l->d->serial, identity, l->p->uuid,
				     l->but)
		       ? "a record in " OWN_VOLUMES_DIR " speaks of it"
		       : NULL;
}

static const char *named_in_fstab(struct look *l)
{
	struct err e;

	if (fstab_of(l->h, l->a, l->d, l->p->uuid, &l->lines, &e) < 0)
		return arena_str(l->a, e.msg);
	if (l->lines.others)
		return "a line of /etc/fstab is about it that is not cloud-init's";
	if (l->lines.cloud > 1 || (l->lines.cloud && !str_eq(l->lines.point, EPHEMERAL_POINT)))
		return "cloud-init mounts it at another place than " EPHEMERAL_POINT;
	return NULL;
}

/* Objects if the disk is mounted. One mount of the whole disk, at the place in cloud-init's line, is no objection. */
static const char *mounted(struct look *l)
{
	const struct strv points = claim_mounts(l->h, l->a, l->d);
	const struct mount *m;
	struct mounts all;
	struct err e;

	if (mounts_read(l->h->root_fd, l->a, "self", &all, &e) < 0)
		return arena_str(l->a, e.msg);
	if (points.n == 0)
		return NULL;
	if (points.n > 1 || l->is_cut)
		return arena_printf(l->a, "it is mounted at %s", strv_join(l->a, &points, ", "));
	m = mounts_at(&all, EPHEMERAL_POINT);
	if (!m || !str_eq(points.v[0], EPHEMERAL_POINT) || !str_eq(m->dev, l->d->dev) ||
	    !str_eq(m->root, "/"))
		return arena_printf(l->a, "it is mounted at %s", points.v[0]);
	if (!l->lines.cloud)
		return "no line of cloud-init's in /etc/fstab mounts it at " EPHEMERAL_POINT;
	l->is_mounted = true;
	return NULL;
}

static const char *in_use(struct look *l)
{
	struct user user;
	struct err e;

	if (!l->is_mounted) {
		const char *who = claim_of(l->h, l->a, l->d);

		if (who)
			return who;
	}
	if (l->d->holders.n)
		return arena_printf(l->a, "in use by %s", strv_join(l->a, &l->d->holders, ", "));
	if (users_of_disk(l->h->root_fd, l->a, l->d->dev, l->is_mounted ? EPHEMERAL_POINT : NULL,
			  &user, &e) < 0)
		return arena_str(l->a, e.msg);
	return user.what;
}

static const char *used_before(struct look *l)
{
	const char *why = NULL;
	autoclose int fd = -1;
	struct err e;
	int r = disk_open(l->h, l->d, O_RDONLY | O_NONBLOCK, &fd, &e);

	if (r < 0)
		return arena_str(l->a, e.msg);
	r = extfs_new(l->h, fd, l->d->size,
		      l->is_cut       ? EXTFS_CUT
		      : l->is_mounted ? EXTFS_MOUNTED
				      : EXTFS_UNMOUNTED,
		      &why);
	if (r < 0)
		return arena_printf(l->a, "it cannot be read: %s", strerror(-r));
	return r ? why : NULL;
}

void ephemeral_look(const struct disk_host *h, struct arena *a, const struct disk *d,
		    const struct probe *p, const char *but, struct ephemeral *ret)
{
	static const char *(*const looks[])(struct look *) = {
		not_of_store, not_as_made, recorded, named_in_fstab, mounted, in_use, used_before,
	};
	const bool is_cut = p->unknown && but;
	struct look l = { .h = h, .a = a, .d = d, .p = p, .but = but, .is_cut = is_cut };
	const char *why = NULL;

	*ret = (struct ephemeral){ 0 };
	if ((!is_cut && (!p->fs || !str_has_prefix(p->fs, "ext"))) ||
	    (d->kind != DISK_INSTANCE_STORE && !ephemeral_has_line(h, a, d, p->uuid)))
		return;
	for (size_t i = 0; i < ARRAY_LEN(looks) && !why; i++)
		why = looks[i](&l);
	*ret = (struct ephemeral){
		.is_new = !why,
		.is_cut = is_cut,
		.is_mounted = l.is_mounted,
		.why = why,
	};
}

/* Returns the mount point's path through the root's descriptor. A descriptor of the mount point itself would keep it
 * busy. */
static const char *point_of(const struct disk_host *h, char *text, size_t n)
{
	(void)print_to(text, n, "/proc/self/fd/%d" EPHEMERAL_POINT, h->root_fd);
	return text;
}

int ephemeral_unmount(const struct disk_host *h, const struct disk *d, struct err *e)
{
	char path[64], dev[32];
	struct stat st;
	int r = io_stat(h->root_fd, EPHEMERAL_POINT, &st, e);

	if (r < 0)
		return r;
	(void)print_to(dev, sizeof(dev), "%u:%u", major(st.st_dev), minor(st.st_dev));
	if (strcmp(dev, d->dev) != 0)
		return err_fail(e, ERR_SYSTEM, ENODEV, "%s is not mounted on " EPHEMERAL_POINT,
				d->name);
	if (umount2(point_of(h, path, sizeof(path)), UMOUNT_NOFOLLOW) < 0)
		return err_sys(e, "unmount " EPHEMERAL_POINT);
	return 0;
}

int ephemeral_line(const struct disk_host *h, struct arena *a, const struct disk *d,
		   struct fstab *ret, struct err *e)
{
	struct probe p = { .uuid = "" };

	(void)!disk_probe_signature(h, a, d, &p);
	return fstab_of(h, a, d, p.uuid, ret, e);
}

int ephemeral_mount(const struct disk_host *h, struct arena *a, const struct disk *d,
		    const struct fstab *line, struct err *e)
{
	const char *point =
		arena_printf(a, "/proc/%d/fd/%d" EPHEMERAL_POINT, (int)getpid(), h->root_fd);
	char *node;
	int r = disk_host_path(h, a, d, &node, e);

	if (r == 0) {
		const char *const argv[] = { "mount",       "-t", line->type, "-o",
					     line->options, node, point,      NULL };
		const struct proc_req req = { .argv = argv, .stdin_fd = -1, .let_end = true };

		r = proc_run(&req, NULL, e);
	}
	return r;
}

int ephemeral_forget(const struct disk_host *h, struct arena *a, const struct disk *d,
		     struct err *e)
{
	struct probe p = { .uuid = "" };

	(void)!disk_probe_signature(h, a, d, &p);
	return fstab_drop(h, a, d, p.uuid, e);
}

int ephemeral_erase(int fd, const struct disk *d, struct err *e)
{
	static const char zeros[EXTFS_MAGIC_SIZE];
	off_t at = EXTFS_MAGIC_AT;

	if (io_write_at(fd, zeros, sizeof(zeros), &at) < 0 || fsync(fd) < 0)
		return err_sys(e, "write to disk %s", d->name);
	return 0;
}

bool ephemeral_has_line(const struct disk_host *h, struct arena *a, const struct disk *d,
			const char *uuid)
{
	struct fstab lines;
	struct err ignored;

	return fstab_of(h, a, d, uuid, &lines, &ignored) == 0 && lines.cloud > 0;
}

bool ephemeral_is_at_point(const struct disk_host *h, struct arena *a, const struct disk *d,
			   const char *path)
{
	const struct strv points = claim_mounts(h, a, d);

	for (size_t i = 0; i < points.n; i++)
		if (!str_eq(points.v[i], EPHEMERAL_POINT) && !str_eq(points.v[i], path))
			return false;
	return strv_has(&points, EPHEMERAL_POINT);
}

int ephemeral_take_back(const struct disk_host *h, struct arena *a, const struct disk *d,
			const char *uuid, const char *path, struct err *e)
{
	struct err ignored;
	int r;

	if (!ephemeral_has_line(h, a, d, uuid))
		return 0;
	r = fstab_drop(h, a, d, uuid, e);
	/* a program that uses the disk at /mnt goes on; the disk is mounted at its own mount point too, and from the
	 * next boot on only there */
	if (r == 0 && !str_eq(path, EPHEMERAL_POINT) && ephemeral_is_at_point(h, a, d, path))
		(void)!ephemeral_unmount(h, d, &ignored);
	return r;
}
