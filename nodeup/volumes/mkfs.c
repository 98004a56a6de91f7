#include "nodeup/volumes/mkfs.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/proc.h"

#define MIB ((uint64_t)1 << 20)
/* a mkfs without discards and with lazy tables takes seconds on any disk */
#define MKFS_MAX_NS (30 * 60 * DUR_SEC)

/* clang-format off */
static const struct mkfs_kind kinds[] = {
	{ .fs = "ext4", .type = "ext4", .tool = "mkfs.ext4", .package = "e2fsprogs",
	  .size_min = 16 * MIB, .label_max = 16, .uuid_arg = "-U", .on_raid = true,
	  /* -F: allows a whole disk; for a disk in use mkfs would want it twice */
	  .args = (const char *const[]){ "-q", "-F", NULL },
	  .extended = "nodiscard,lazy_itable_init=1,lazy_journal_init=1" },
	{ .fs = "xfs", .type = "xfs", .tool = "mkfs.xfs", .package = "xfsprogs",
	  .size_min = 300 * MIB, .label_max = 12, .uuid_arg = "-m uuid=", .force_arg = "-f",
	  .on_raid = true,
	  .args = (const char *const[]){ "-q", "-K", NULL } },
	{ .fs = "btrfs", .type = "btrfs", .tool = "mkfs.btrfs", .package = "btrfs-progs",
	  .size_min = 109 * MIB, .label_max = 255, .uuid_arg = "-U", .force_arg = "-f", .several = true,
	  .args = (const char *const[]){ "-q", "-K", NULL } },
	{ .fs = "swap", .type = "swap", .tool = "mkswap", .package = "util-linux",
	  .size_min = MIB, .label_max = 15, .uuid_arg = "-U",
	  .args = (const char *const[]){ NULL } },
};

static const struct level {
	const char *raid, *data, *metadata;
	size_t disks_min;
} levels[] = {
	{ "raid0",  "raid0",  "raid1",  2 },
	{ "raid1",  "raid1",  "raid1",  2 },
	{ "raid10", "raid10", "raid10", 4 },
};
/* clang-format on */

const struct mkfs_kind *mkfs_kind(const char *fs)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].fs, fs) == 0)
			return &kinds[i];
	return NULL;
}

static const struct level *level_of(const char *raid)
{
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (str_eq(levels[i].raid, raid))
			return &levels[i];
	return NULL;
}

static int check_raid(const struct mkfs_kind *kind, const char *raid, size_t n, struct err *e)
{
	const struct level *level = level_of(raid);

	if (raid && !level)
		return err_config(e, "raid '%s' is none of raid0, raid1, raid10", raid);
	if (!kind->several && !kind->on_raid && n > 1)
		return err_config(e, "%s cannot span %zu disks", kind->fs, n);
	if (level && !kind->several && strcmp(raid, "raid0") != 0)
		return err_config(e, "%s has no %s: of the file systems here btrfs has", kind->fs,
				  raid);
	/* raid0 takes any number of disks; one disk needs no array */
	if (level && strcmp(raid, "raid0") != 0 && n > 0 && n < level->disks_min)
		return err_config(e, "%s needs %zu disks, here %s %zu", raid, level->disks_min,
				  n == 1 ? "is" : "are", n);
	return 0;
}

/* A label must be valid in every tool and table that shows it. */
static bool is_label(const char *label)
{
	for (const char *p = label; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("/\\\"'", *p))
			return false;
	return *label && *label != '-';
}

int mkfs_check(const struct mkfs_req *req, size_t n_disks, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct mkfs_kind *kind = mkfs_kind(req->fs);
	struct strv ignored;
	int r;

	if (!kind)
		return err_config(e, "file system '%s' is none of ext4, xfs, btrfs, swap", req->fs);
	if (req->label && (!is_label(req->label) || strlen(req->label) > kind->label_max))
		return err_config(e,
				  "label '%s': %s takes 1 to %zu characters, no blank, quote or "
				  "slash",
				  req->label, kind->fs, kind->label_max);
	r = check_raid(kind, req->raid, n_disks, e);
	if (r < 0)
		return r;
	return mkfs_options(a, req->fs, &req->options, &ignored, e);
}

static void add_uuid(struct arena *a, const struct mkfs_kind *kind, const char *uuid,
		     struct strv *argv)
{
	const char *blank = strchr(kind->uuid_arg, ' ');

	if (!blank) {
		strv_add(a, argv, kind->uuid_arg);
		strv_add(a, argv, uuid);
		return;
	}
	strv_add(a, argv, arena_strn(a, kind->uuid_arg, (size_t)(blank - kind->uuid_arg)));
	strv_addf(a, argv, "%s%s", blank + 1, uuid);
}

static void add_level(struct arena *a, const struct mkfs_req *req, struct strv *argv)
{
	const struct level *level = level_of(req->raid ? req->raid : "raid0");

	if (req->nodes.n < 2 || !level)
		return;
	strv_add(a, argv, "-d");
	strv_add(a, argv, level->data);
	strv_add(a, argv, "-m");
	strv_add(a, argv, level->metadata);
}

/* Adds the document's options after ours, in one "-E". */
static void add_options(struct arena *a, const struct mkfs_kind *kind, const struct strv *options,
			struct strv *argv)
{
	const char *extended = kind->extended;

	for (size_t i = 0; i < options->n; i++) {
		const char *arg = options->v[i];

		if (!extended || !str_has_prefix(arg, "-E"))
			strv_add(a, argv, arg);
		else if (arg[2])
			extended = arena_printf(a, "%s,%s", extended, arg + 2);
		else
			extended = arena_printf(a, "%s,%s", extended, options->v[++i]);
	}
	if (extended) {
		strv_add(a, argv, "-E");
		strv_add(a, argv, extended);
	}
}

struct strv mkfs_argv(struct arena *a, const struct mkfs_req *req)
{
	const struct mkfs_kind *kind = mkfs_kind(req->fs);
	struct strv argv = { 0 }, options = { 0 };
	struct err ignored;

	strv_add(a, &argv, kind->tool);
	for (size_t i = 0; kind->args[i]; i++)
		strv_add(a, &argv, kind->args[i]);
	if (req->again && kind->force_arg)
		strv_add(a, &argv, kind->force_arg);
	add_uuid(a, kind, req->uuid, &argv);
	if (req->label) {
		strv_add(a, &argv, "-L");
		strv_add(a, &argv, req->label);
	}
	if (kind->several)
		add_level(a, req, &argv);
	(void)!mkfs_options(a, req->fs, &req->options, &options, &ignored);
	add_options(a, kind, &options, &argv);
	strv_add_all(a, &argv, &req->nodes);
	return argv;
}

int mkfs_run(const struct mkfs_req *req, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct mkfs_kind *kind = mkfs_kind(req->fs);
	struct strv argv = mkfs_argv(a, req);
	struct proc_req proc = { .stdin_fd = req->lock_fd ? req->lock_fd : -1,
				 .timeout_ns = MKFS_MAX_NS,
				 .let_end = true };
	int r;

	strv_add(a, &argv, NULL);
	proc.argv = argv.v;
	r = proc_run(&proc, NULL, e);
	if (r == -ENOENT)
		return err_config(e, "%s is not installed: package %s has it", kind->tool,
				  kind->package);
	return r;
}
