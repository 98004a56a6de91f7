#include "nodeup/volumes/claim.h"

#include <fcntl.h>
#include <string.h>
#include "nodeup/base/io.h"
#include "nodeup/volumes/mounts.h"

enum { TABLE_MAX = 4 << 20 };

static struct strv lines_of(const struct disk_host *h, struct arena *a, const char *path)
{
	autobuf struct buf text = BUF_INIT(TABLE_MAX);
	struct err ignored;

	if (io_read(h->root_fd, path, &text, &ignored) < 0)
		return (struct strv){ 0 };
	return strv_split(a, buf_str(&text), '\n');
}

/* Where it is mounted, all places. A multi-device file system has a number of its own: its source tells
 * one of its disks. */
static struct strv mounts_of(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	struct strv points = { 0 };
	struct mounts all = { 0 };
	struct err ignored;

	/* without a table the kernel's own claim is left to be asked */
	(void)!mounts_read(h->root_fd, a, "self", &all, &ignored);
	for (size_t i = 0; i < all.n; i++)
		if (strcmp(all.v[i].dev, d->dev) == 0 || strcmp(all.v[i].source, d->node) == 0)
			strv_add(a, &points, all.v[i].point);
	return points;
}

char *claim_elsewhere(const struct disk_host *h, struct arena *a, const struct disk *d,
		      const char *path)
{
	const struct strv points = mounts_of(h, a, d);

	if (points.n == 0 || (path && strv_has(&points, path)))
		return NULL;
	return arena_printf(a, "mounted on %s", points.v[0]);
}

static char *swap_of(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	const struct strv lines = lines_of(h, a, "/proc/swaps");
	const char *own = arena_printf(a, "/dev/%s", d->name);

	for (size_t i = 0; i < lines.n; i++) {
		const char *name = arena_strn(a, lines.v[i], strcspn(lines.v[i], " \t"));

		if (strcmp(name, own) == 0 || strcmp(name, d->node) == 0)
			return arena_str(a, "swap space in use");
	}
	return NULL;
}

int claim_open(const struct disk_host *h, const struct disk *d, int *ret_fd, struct err *e)
{
	return disk_open(h, d, O_RDONLY | O_EXCL | O_NONBLOCK, ret_fd, e);
}

char *claim_of(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	char *who = claim_elsewhere(h, a, d, NULL);
	autoclose int fd = -1;
	struct err ignored;

	if (!who)
		who = swap_of(h, a, d);
	if (!who && d->holders.n)
		who = arena_printf(a, "in use by %s", strv_join(a, &d->holders, ", "));
	if (!who && !d->held && claim_open(h, d, &fd, &ignored) == -EBUSY)
		who = arena_str(a, "in use by the kernel: mounted elsewhere, or part of something");
	return who;
}
