/* storage_options.c - what mkfs and mount are told, and how many disks a file system may have */
#include "nodeup/config/kops18_storage.h"

#include <string.h>

/* What each file system allows; the kernel's and mkfs' own limits. */
static const struct limits {
	const char *filesystem;
	size_t label; /* bytes */
	bool several; /* over several disks */
} limits[] = {
	{ "ext4", 16, true },
	{ "xfs", 12, true },
	{ "btrfs", 255, true },
	{ "swap", 15, false },
};

static const struct {
	const char *raid;
	size_t least; /* disks */
} raids[] = { { "raid0", 1 }, { "raid1", 2 }, { "raid10", 4 } };

/* Options that a unit would not obey, or that contradict what it is for. */
static const struct {
	const char *option, *why;
} bad_options[] = {
	{ "x-systemd.", "has no effect in a unit file; there is deviceTimeout" },
	{ "noauto", "contradicts volumeMounts: it would never be mounted" },
	{ "bind", "is no option of a file system; there is binds" },
	{ "rbind", "is no option of a file system; there is binds" },
	{ "remount", "is no option of a first mount" },
	{ "loop", "is for files; a disk is meant" },
};

/* Arguments of mkfs that are ours to give. */
static const struct {
	const char *option, *why;
} bad_format[] = {
	{ "-U", "the UUID is derived, so that the mount unit knows it" },
	{ "--uuid", "the UUID is derived, so that the mount unit knows it" },
	{ "uuid=", "the UUID is derived, so that the mount unit knows it" },
	{ "-L", "there is label" },
	{ "--label", "there is label" },
};

struct place {
	struct kops18_build *b;
	const struct tree *tree;
	const char *path;
};

static int fail(const struct place *p, const char *key, const char *text, const char *why)
{
	return err_config(p->b->err, "%s%s.%s: '%s' %s", kops18_where(p->b->arena, p->tree, key),
			  p->path, key, text, why);
}

static int check_mount_option(const struct place *p, const char *option)
{
	static const char good[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=.:/+@-";

	if (*option == '\0' || *option == '-' || strspn(option, good) != strlen(option))
		return fail(p, "mountOptions", option, "is no mount option");
	for (size_t i = 0; i < ARRAY_LEN(bad_options); i++) {
		const size_t n = strlen(bad_options[i].option);

		if (strncmp(option, bad_options[i].option, n) == 0 &&
		    (option[n] == '\0' || bad_options[i].option[n - 1] == '.'))
			return fail(p, "mountOptions", option, bad_options[i].why);
	}
	return 0;
}

/* kops' items may hold several, with commas between them. */
static int set_mount_options(const struct place *p, const struct strv *given, struct strv *out)
{
	for (size_t i = 0; i < given->n; i++) {
		struct strv one = strv_split(p->b->arena, given->v[i], ',');

		if (one.n == 0)
			return fail(p, "mountOptions", "", "is no mount option");
		for (size_t k = 0; k < one.n; k++) {
			int r = check_mount_option(p, one.v[k]);

			if (r < 0)
				return r;
			if (!strv_has(out, one.v[k]))
				strv_add(p->b->arena, out, one.v[k]);
		}
	}
	if (given->n == 0)
		strv_add(p->b->arena, out, "noatime");
	return 0;
}

static int check_format_options(const struct place *p, const struct strv *given)
{
	for (size_t i = 0; i < given->n; i++) {
		const char *option = given->v[i];

		if (str_has_prefix(option, "/") || strpbrk(option, "\n\r") || !*option)
			return fail(p, "formatOptions", option, "is no option of mkfs");
		for (size_t k = 0; k < ARRAY_LEN(bad_format); k++)
			if (str_has_prefix(option, bad_format[k].option))
				return fail(p, "formatOptions", option, bad_format[k].why);
	}
	return 0;
}

static int check_label(const struct place *p, const struct limits *l, const char *label)
{
	if (!label)
		return 0;
	if (strpbrk(label, " \t\r\n/\\'\"") || *label == '-')
		return fail(p, "label", label, "is no label");
	if (strlen(label) > l->label)
		return fail(p, "label", label,
			    arena_printf(p->b->arena, "is longer than %zu bytes, all that %s has",
					 l->label, l->filesystem));
	return 0;
}

static int check_raid(const struct place *p, const struct limits *l, const struct node_volume *v)
{
	const bool store = v->disks == NODE_DISKS_INSTANCE_STORE && v->nth < 0;
	const size_t disks = v->disks == NODE_DISKS_PATHS ? v->devices.n : store ? SIZE_MAX : 1;

	if (!l->several && disks > 1)
		return fail(p, "filesystem", l->filesystem,
			    "is on one disk, and several are named");
	if (!v->raid)
		return 0;
	if (!l->several)
		return fail(p, "raid", v->raid, "is not for swap");
	for (size_t i = 0; i < ARRAY_LEN(raids); i++)
		if (strcmp(raids[i].raid, v->raid) == 0 && disks < raids[i].least)
			return fail(p, "raid", v->raid,
				    arena_printf(p->b->arena, "takes %zu disks at least, found %zu",
						 raids[i].least, disks));
	return 0;
}

/* Documents may be looked at on a machine that will not mount them. */
static int check_kernel(const struct place *p, const char *filesystem)
{
	const struct strv *known = &p->b->facts->filesystems;

	if (p->b->opts->no_host || known->n == 0 || strcmp(filesystem, "swap") == 0 ||
	    strv_has(known, filesystem))
		return 0;
	return fail(p, "filesystem", filesystem, "is not a file system of this kernel");
}

int storage_options(struct kops18_build *b, const struct tree *tree, const char *path,
		    const struct storage_mount *m, struct node_volume *v)
{
	const struct place p = { b, tree, path };
	const struct limits *l = limits;
	int r;

	while (strcmp(l->filesystem, v->filesystem) != 0)
		l++;
	r = check_kernel(&p, v->filesystem);
	if (r == 0)
		r = check_raid(&p, l, v);
	if (r == 0)
		r = check_label(&p, l, v->label);
	if (r == 0)
		r = check_format_options(&p, &m->format_options);
	if (r == 0 && v->path)
		r = set_mount_options(&p, &m->mount_options, &v->mount_options);
	if (r == 0 && !v->path && m->mount_options.n)
		r = fail(&p, "mountOptions", m->mount_options.v[0], "is of no use to swap");
	v->format_options = m->format_options;
	return r;
}
