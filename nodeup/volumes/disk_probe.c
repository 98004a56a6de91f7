#include "nodeup/volumes/disk_probe.h"

#include <blkid/blkid.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include "nodeup/volumes/blank.h"

/* results of blkid_do_safeprobe */
enum { FOUND = 0, NOTHING = 1, AMBIVALENT = -2 };

/* offset of sb_inprogress in struct xfs_dsb; mkfs.xfs clears it when all is written */
enum { XFS_IN_PROGRESS = 126 };

static void free_probe(blkid_probe *pr)
{
	blkid_free_probe(*pr);
}
#define autoprobe __attribute__((cleanup(free_probe)))

static const char *value(struct arena *a, blkid_probe pr, const char *name)
{
	const char *text = NULL;

	if (blkid_probe_lookup_value(pr, name, &text, NULL) < 0 || !text)
		text = "";
	return arena_str(a, text);
}

static const char *what(struct arena *a, const struct probe *p, const char *usage,
			const char *table)
{
	const char *label = *p->label ? arena_printf(a, " labelled '%s'", p->label) : "";

	if (!p->fs)
		return arena_printf(a, "%s partition table", table);
	if (strcmp(usage, "filesystem") == 0)
		return arena_printf(a, "%s file system%s", p->fs, label);
	if (strcmp(p->fs, "swap") == 0)
		return arena_printf(a, "swap space%s", label);
	return arena_printf(a, "%s signature%s", p->fs, label);
}

static bool is_in_progress(const struct disk_host *h, int fd, const struct probe *p)
{
	unsigned char flag = 0;

	return strcmp(p->fs, "xfs") == 0 && blank_read(h, fd, &flag, 1, XFS_IN_PROGRESS) == 0 &&
	       flag != 0;
}

static void found(const struct disk_host *h, struct arena *a, blkid_probe pr, int fd,
		  struct probe *ret)
{
	const char *type = value(a, pr, "TYPE");

	*ret = (struct probe){
		.state = PROBE_DATA,
		.fs = *type ? type : NULL,
		.uuid = value(a, pr, "UUID"),
		.label = value(a, pr, "LABEL"),
		.bad_checksum = blkid_probe_has_value(pr, "SBBADCSUM") == 1,
	};
	ret->incomplete = ret->fs && is_in_progress(h, fd, ret);
	ret->has = what(a, ret, value(a, pr, "USAGE"), value(a, pr, "PTTYPE"));
}

static void give(struct probe *ret, enum probe_state state, const char *has)
{
	*ret = (struct probe){ .state = state, .has = has, .uuid = "", .label = "" };
}

static void no_signature(const struct disk_host *h, struct arena *a, int fd, uint64_t size,
			 bool persist, struct probe *ret)
{
	uint64_t at = 0;
	int r = blank_check(h, fd, size, persist, &at);

	if (r == -ENODATA)
		give(ret, PROBE_UNREADABLE,
		     arena_printf(a, "it ends at byte %" PRIu64 ", before its size", at));
	else if (r < 0)
		give(ret, PROBE_UNREADABLE,
		     arena_printf(a, "read error at byte %" PRIu64 ": %s", at, strerror(-r)));
	else if (r > 0)
		give(ret, PROBE_DATA, arena_printf(a, "unknown data at byte %" PRIu64, at));
	else
		give(ret, PROBE_BLANK, "nothing");
	ret->unknown = r > 0;
}

static bool set_up(blkid_probe pr, int fd)
{
	return blkid_probe_set_device(pr, fd, 0, 0) == 0 &&
	       blkid_probe_enable_superblocks(pr, 1) == 0 &&
	       blkid_probe_set_superblocks_flags(pr, BLKID_SUBLKS_DEFAULT | BLKID_SUBLKS_USAGE |
							     BLKID_SUBLKS_BADCSUM) == 0 &&
	       blkid_probe_enable_partitions(pr, 1) == 0 &&
	       blkid_probe_set_partitions_flags(pr, BLKID_PARTS_FORCE_GPT) == 0;
}

void disk_probe_fd(const struct disk_host *h, struct arena *a, int fd, uint64_t size, bool persist,
		   struct probe *ret)
{
	autoprobe blkid_probe pr = blkid_new_probe();
	const off_t end = lseek(fd, 0, SEEK_END);
	int r;

	if (size == 0) {
		give(ret, PROBE_UNREADABLE, "its size is 0");
		return;
	}
	if (end < 0 || (uint64_t)end != size) {
		give(ret, PROBE_UNREADABLE,
		     arena_printf(a, "it ends at byte %lld, its size is %" PRIu64, (long long)end,
				  size));
		return;
	}
	if (!pr || !set_up(pr, fd)) {
		give(ret, PROBE_UNREADABLE, "libblkid cannot look at it");
		return;
	}
	r = blkid_do_safeprobe(pr);
	if (r == FOUND)
		found(h, a, pr, fd, ret);
	else if (r == AMBIVALENT)
		give(ret, PROBE_DATA, "several signatures at once");
	else if (r == NOTHING)
		no_signature(h, a, fd, size, persist, ret);
	else
		give(ret, PROBE_UNREADABLE,
		     arena_printf(a, "libblkid: %s", errno ? strerror(errno) : "read error"));
}

bool disk_probe_signature(const struct disk_host *h, struct arena *a, const struct disk *d,
			  struct probe *ret)
{
	autoprobe blkid_probe pr = blkid_new_probe();
	autoclose int fd = -1;
	struct err ignored;

	if (!pr || disk_open(h, d, O_RDONLY | O_NONBLOCK, &fd, &ignored) < 0 || !set_up(pr, fd) ||
	    blkid_do_safeprobe(pr) != FOUND)
		return false;
	found(h, a, pr, fd, ret);
	return true;
}

void disk_probe(const struct disk_host *h, struct arena *a, const struct disk *d, bool persist,
		struct probe *ret)
{
	autoclose int fd = -1;
	struct err e;

	if (disk_open(h, d, O_RDONLY | O_NONBLOCK, &fd, &e) < 0)
		give(ret, PROBE_UNREADABLE, arena_str(a, e.msg));
	else if (d->partitions.n > 0)
		give(ret, PROBE_DATA,
		     arena_printf(a, "%zu partition%s: %s", d->partitions.n,
				  d->partitions.n == 1 ? "" : "s",
				  strv_join(a, &d->partitions, ", ")));
	else
		disk_probe_fd(h, a, fd, d->size, persist, ret);
}
