#include "nodeup/volumes/claim.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "nodeup/base/io.h"
#include "nodeup/base/walk.h"
#include "nodeup/volumes/mounts.h"

/* Stats the node at a path, links followed. */
static bool look_at(const struct disk_host *h, const char *path, struct stat *ret)
{
	autoclose int fd = -1;
	struct err ignored;

	return *path == '/' && io_open(h->root_fd, path, O_PATH, &fd, &ignored) == 0 &&
	       fstat(fd, ret) == 0;
}

/* Compares the devices: links change, and a device may have several nodes. */
bool claim_is_same_node(const struct disk_host *h, const char *x, const char *y)
{
	struct stat a, b;

	if (strcmp(x, y) == 0)
		return true;
	if (!look_at(h, x, &a) || !look_at(h, y, &b))
		return false;
	if (S_ISBLK(a.st_mode) && S_ISBLK(b.st_mode))
		return a.st_rdev == b.st_rdev;
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Lists the nodes of the disk and, if the kernel counts it to a btrfs, of all other disks of that btrfs. */
static struct strv nodes_of(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	const struct strv all = walk_list(a, h->root_fd, "/sys/fs/btrfs", "");
	struct strv nodes = { 0 };

	strv_add(a, &nodes, d->node);
	for (size_t i = 0; i < all.n; i++) {
		const struct strv names = walk_list(
			a, h->root_fd, arena_printf(a, "/sys/fs/btrfs/%s/devices", all.v[i]), "");

		for (size_t k = 0; strv_has(&names, d->name) && k < names.n; k++)
			strv_addf(a, &nodes, "/dev/%s", names.v[k]);
	}
	return nodes;
}

static bool is_from(const struct disk_host *h, const struct mount *m, const struct strv *nodes)
{
	for (size_t i = 0; i < nodes->n; i++)
		if (claim_is_same_node(h, m->source, nodes->v[i]))
			return true;
	return false;
}

/* Lists all places where the disk is mounted. A file system over several devices has a device number of its own, and
 * the source of its mount names one of its disks. */
struct strv claim_mounts(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	const struct strv nodes = nodes_of(h, a, d);
	struct strv points = { 0 };
	struct mounts all = { 0 };
	struct err ignored;

	/* without a table of mounts the kernel's own claim can still be asked */
	(void)!mounts_read(h->root_fd, a, "self", &all, &ignored);
	for (size_t i = 0; i < all.n; i++)
		if (strcmp(all.v[i].dev, d->dev) == 0 || is_from(h, &all.v[i], &nodes))
			strv_add(a, &points, all.v[i].point);
	return points;
}

char *claim_elsewhere(const struct disk_host *h, struct arena *a, const struct disk *d,
		      const char *path)
{
	const struct strv points = claim_mounts(h, a, d);

	if (points.n == 0 || (path && strv_has(&points, path)))
		return NULL;
	return arena_printf(a, "mounted on %s", points.v[0]);
}

static char *swap_of(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	const struct strv swaps = mounts_swaps(h->root_fd, a);

	for (size_t i = 0; i < swaps.n; i++)
		if (strcmp(swaps.v[i], arena_printf(a, "/dev/%s", d->name)) == 0 ||
		    claim_is_same_node(h, swaps.v[i], d->node))
			return arena_str(a, "swap space in use");
	return NULL;
}

char *claim_of(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	char *who = claim_elsewhere(h, a, d, NULL);

	if (!who)
		who = swap_of(h, a, d);
	if (!who && d->holders.n)
		who = arena_printf(a, "in use by %s", strv_join(a, &d->holders, ", "));
	return who;
}

char *claim_now(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	char *who = claim_of(h, a, d);
	autoclose int fd = -1;
	struct err ignored;

	if (!who && disk_open(h, d, O_RDONLY | O_EXCL | O_NONBLOCK, &fd, &ignored) == -EBUSY)
		who = arena_str(a, CLAIM_UNNAMED);
	return who;
}
