/* storage_options.c - what mkfs and mount are told */
#include "nodeup/config/kops18/storage.h"

#include <string.h>

/* Options that a unit would not obey, or that contradict what it is for. */
static const struct {
	const char *option, *why;
} bad_options[] = {
	{ "x-systemd.", "has no effect in a unit file; there is deviceTimeout" },
	{ "noauto", "contradicts volumeMounts: it would never be mounted" },
	{ "bind", "is not an option of a file system; there is binds" },
	{ "rbind", "is not an option of a file system; there is binds" },
	{ "remount", "is not an option of a first mount" },
	{ "loop", "is for files; a disk is meant" },
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
		return fail(p, "mountOptions", option, "is not a mount option");
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
			return fail(p, "mountOptions", "", "is not a mount option");
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

/* How many disks are named; 0: as many as there are. */
static size_t disks_of(const struct node_volume *v)
{
	if (v->disks == NODE_DISKS_PATHS)
		return v->devices.n;
	return v->disks == NODE_DISKS_INSTANCE_STORE && v->nth < 0 ? 0 : 1;
}

/* One aspect after the other, so that each complaint has the place of its key. */
static int check_fit(const struct place *p, const struct storage_mount *m,
		     const struct node_volume *v)
{
	struct node_volume bare = *v, raid, label, options;
	const struct {
		const char *key;
		const struct node_volume *v;
	} aspects[] = {
		{ "filesystem", &bare },
		{ "raid", &raid },
		{ "label", &label },
		{ "formatOptions", &options },
	};

	bare.raid = bare.label = NULL;
	bare.format_options = (struct strv){ 0 };
	raid = label = options = bare;
	raid.raid = v->raid;
	label.label = v->label;
	options.format_options = m->format_options;
	for (size_t i = 0; i < ARRAY_LEN(aspects) && p->b->opts->volume_fits; i++) {
		struct err why;

		if (p->b->opts->volume_fits(aspects[i].v, disks_of(v), &why) < 0)
			return err_config(p->b->err, "%s%s: %s",
					  kops18_where(p->b->arena, p->tree, aspects[i].key),
					  p->path, why.msg);
	}
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
	int r = check_kernel(&p, v->filesystem);

	if (r == 0)
		r = check_fit(&p, m, v);
	if (r == 0 && v->path)
		r = set_mount_options(&p, &m->mount_options, &v->mount_options);
	if (r == 0 && !v->path && m->mount_options.n)
		r = fail(&p, "mountOptions", m->mount_options.v[0], "is of no use to swap");
	v->format_options = m->format_options;
	return r;
}
