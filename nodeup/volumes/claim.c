#include "nodeup/volumes/claim.h"

#include <fcntl.h>
#include <string.h>
#include "nodeup/base/io.h"

enum { TABLE_MAX = 4 << 20 };

static struct strv lines_of(const struct disk_host *h, struct arena *a, const char *path)
{
	autobuf struct buf text = BUF_INIT(TABLE_MAX);
	struct err ignored;

	if (io_read(h->root_fd, path, &text, &ignored) < 0)
		return (struct strv){ 0 };
	return strv_split(a, buf_str(&text), '\n');
}

/* A multi-device file system has a number of its own: its source tells one of its disks. */
static bool is_source(const struct disk *d, const struct strv *words)
{
	for (size_t i = 0; i + 2 < words->n; i++)
		if (strcmp(words->v[i], "-") == 0)
			return strcmp(words->v[i + 2], d->node) == 0;
	return false;
}

/* Where it is mounted, all places. */
static struct strv mounts_of(const struct disk_host *h, struct arena *a, const struct disk *d)
{
	const struct strv lines = lines_of(h, a, "/proc/self/mountinfo");
	struct strv points = { 0 };

	for (size_t i = 0; i < lines.n; i++) {
		const struct strv words = strv_split(a, lines.v[i], ' ');

		if (words.n > 4 && (strcmp(words.v[2], d->dev) == 0 || is_source(d, &words)))
			strv_add(a, &points, words.v[4]);
	}
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
	return io_open(h->root_fd, d->node, O_RDONLY | O_EXCL | O_NONBLOCK, ret_fd, e);
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
	if (!who && claim_open(h, d, &fd, &ignored) == -EBUSY)
		who = arena_str(a, "in use by the kernel: mounted elsewhere, or part of something");
	return who;
}
