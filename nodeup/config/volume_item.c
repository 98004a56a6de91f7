#include "nodeup/config/volume_item.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int volume_item_fail(const struct volume_item *it, const char *key, const char *fmt, ...)
{
	autofree char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	return err_config(it->err, "%s%s.%s: %s", tree_place(it->arena, it->tree, key), it->path,
			  key, text);
}

int volume_item_devices(struct volume_item *it, const char *key)
{
	struct arena *a = it->arena;

	it->v.disks = NODE_DISKS_PATHS;
	for (size_t i = 0; i < it->v.devices.n; i++) {
		const char *d = it->v.devices.v[i];

		if (!str_has_prefix(d, "/dev/") || strstr(d, "/../") || str_has_suffix(d, "/"))
			return volume_item_fail(it, key,
						"'%s' is not a device: expected a path in /dev", d);
		if (str_has_prefix(d, "/dev/nvme"))
			dialect_warn(a, it->opts,
				     "%s%s: the number in %s changes from boot to boot; %s",
				     tree_place(a, it->tree, "device"), it->path, d,
				     it->is_extended
					     ? "volumeID or instanceStore say which disk is "
					       "meant"
					     : "the name that EC2 has for the volume, as "
					       "/dev/xvdf, says which disk is meant");
	}
	return it->v.devices.n ? 0 : volume_item_fail(it, key, "an empty list");
}

int volume_item_path(struct volume_item *it, const char *path)
{
	if (str_is_empty(path))
		return volume_item_fail(it, "path", "missing: where is it to be mounted?");
	it->v.name = it->v.path = path;
	return volumes_check_path(it->arena, &it->v.pos,
				  arena_printf(it->arena, "%s.path", it->path), path, it->err);
}

/* Lists mount options that a unit ignores, or that contradict its purpose. */
static const struct {
	const char *option, *why;
	const char *instead; /* the key of ours to use instead */
} bad_options[] = {
	{ "x-systemd.", "has no effect in a unit file", "deviceTimeout" },
	{ "noauto", "contradicts volumeMounts: it would never be mounted", NULL },
	{ "bind", "is not an option of a file system", "binds" },
	{ "rbind", "is not an option of a file system", "binds" },
	{ "remount", "is not an option of a first mount", NULL },
	{ "loop", "is for files; a disk is meant", NULL },
};

static int check_mount_option(struct volume_item *it, const char *option)
{
	if (*option == '\0' || *option == '-' || !str_has_only(option, "_=.:/+@-"))
		return volume_item_fail(it, "mountOptions", "'%s' is not a mount option", option);
	for (size_t i = 0; i < ARRAY_LEN(bad_options); i++) {
		const size_t n = strlen(bad_options[i].option);

		if (strncmp(option, bad_options[i].option, n) == 0 &&
		    (option[n] == '\0' || bad_options[i].option[n - 1] == '.'))
			return volume_item_fail(
				it, "mountOptions", "'%s' %s%s%s", option, bad_options[i].why,
				it->is_extended && bad_options[i].instead ? "; there is " : "",
				it->is_extended && bad_options[i].instead ? bad_options[i].instead
									  : "");
	}
	return 0;
}

/* Sets the mount options; an item of kops may hold several, separated by commas. */
static int set_mount_options(struct volume_item *it, const struct strv *given)
{
	struct strv *out = &it->v.mount_options;

	for (size_t i = 0; i < given->n; i++) {
		struct strv one = strv_split(it->arena, given->v[i], ',');

		if (one.n == 0)
			return volume_item_fail(it, "mountOptions", "'' is not a mount option");
		for (size_t k = 0; k < one.n; k++) {
			int r = check_mount_option(it, one.v[k]);

			if (r < 0)
				return r;
			strv_add_once(it->arena, out, one.v[k]);
		}
	}
	if (given->n == 0)
		strv_add(it->arena, out, "noatime");
	return 0;
}

/* Returns how many disks the item names; 0: it takes as many as there are. */
static size_t count_disks(const struct node_volume *v)
{
	if (v->disks == NODE_DISKS_PATHS)
		return v->devices.n;
	return v->disks == NODE_DISKS_INSTANCE_STORE && v->nth < 0 ? 0 : 1;
}

/* Checks one key after another, so that each error names its own key's place. */
static int check_fit(struct volume_item *it, const struct strv *format_options)
{
	struct node_volume bare = it->v, raid, label, options;
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
	raid.raid = it->v.raid;
	label.label = it->v.label;
	options.format_options = *format_options;
	for (size_t i = 0; i < ARRAY_LEN(aspects) && it->opts->volume_fits; i++) {
		struct err why;

		if (it->opts->volume_fits(aspects[i].v, count_disks(&it->v), &why) < 0)
			return err_config(it->err, "%s%s: %s",
					  tree_place(it->arena, it->tree, aspects[i].key), it->path,
					  why.msg);
	}
	return 0;
}

/* Checks that the kernel knows the file system. Without a list of file systems in the facts, checks nothing: another
 * machine may check the documents. */
static int check_kernel(struct volume_item *it)
{
	const struct strv *known = &it->facts->filesystems;

	if (it->opts->no_host || known->n == 0 || strcmp(it->v.filesystem, "swap") == 0 ||
	    strv_has(known, it->v.filesystem))
		return 0;
	return volume_item_fail(it, "filesystem", "'%s' is not a file system of this kernel",
				it->v.filesystem);
}

int volume_item_options(struct volume_item *it, const struct strv *format_options,
			const struct strv *mount_options)
{
	int r = check_kernel(it);

	if (r == 0)
		r = check_fit(it, format_options);
	if (r == 0 && it->v.path)
		r = set_mount_options(it, mount_options);
	it->v.format_options = *format_options;
	return r;
}

void volume_item_bind(struct volume_item *it)
{
	struct arena *a = it->arena;
	const struct strv units = volumes_users(a, it->v.path);

	if (units.n == 0)
		return;
	arena_push(a, it->v.binds.v, it->v.binds.n,
		   (struct node_bind){ str_basename(it->v.path), it->v.path, units, it->v.pos });
	for (size_t i = 0; i < it->v.binds.n; i++)
		it->v.binds.v[i].aside = true;
	it->v.path = arena_strn(a, it->v.path, strlen(it->v.path));
	for (char *p = (char *)it->v.path + 1; *p; p++)
		if (*p == '/')
			*p = '-';
	it->v.path = arena_printf(a, "/mnt/%s", it->v.path + 1);
}
