#include "nodeup/volumes/discover.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "nodeup/base/io.h"
#include "nodeup/base/walk.h"

static const char by_id[] = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol";

static const struct disk *by_dev(const struct disks *all, const char *dev)
{
	for (size_t i = 0; i < all->n; i++)
		if (strcmp(all->v[i].dev, dev) == 0)
			return &all->v[i];
	return NULL;
}

/* Finds a disk by the id of its volume. Compares EC2's name only with disks of Xen, which tell no id. */
static const struct disk *by_volume_id(const struct disks *all, const char *id,
				       const char *attached_as)
{
	for (size_t i = 0; i < all->n; i++)
		if (str_eq(all->v[i].volume_id, id))
			return &all->v[i];
	for (size_t i = 0; i < all->n && attached_as; i++)
		if (str_has_prefix(all->v[i].name, "xvd") &&
		    disk_name_eq(all->v[i].name, attached_as))
			return &all->v[i];
	return NULL;
}

/* Finds a disk by EC2's name, or the kernel's own. */
static const struct disk *by_name(const struct disks *all, const char *path)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].ec2_name && disk_name_eq(all->v[i].ec2_name, path))
			return &all->v[i];
	for (size_t i = 0; i < all->n; i++)
		if (disk_name_eq(all->v[i].name, path))
			return &all->v[i];
	return NULL;
}

static int no_partition(const struct disk_host *h, struct arena *a, const char *path,
			const char *dev, struct err *e)
{
	const char *at = dev ? arena_printf(a, "/sys/dev/block/%s/partition", dev)
			     : arena_printf(a, "/sys/class/block/%s/partition", str_basename(path));
	const char *number = disk_attr(h, a, at);

	if (!number)
		return 0;
	return err_config(e, "%s is partition %s of a disk: name the disk, which must be blank",
			  path, number);
}

/* Fails if the path is also the name that the controller of another disk gives. The path may be a link of ec2-utils,
 * or a node from an earlier boot. */
static int same_by_name(const struct disks *all, const char *path, const struct disk *d,
			struct err *e)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct disk *other = &all->v[i];

		if (other != d && other->volume_id && other->ec2_name &&
		    disk_name_eq(other->ec2_name, path))
			return err_fail(e, ERR_REFUSED, 0,
					"%s is two disks: %s by its node, %s (%s) by what EC2 says",
					path, d->name, other->name, other->volume_id);
	}
	return 0;
}

static int absent(struct err *e, const char *path)
{
	return err_fail(e, ERR_SYSTEM, ENODEV, "%s is not here", path);
}

static int find_path(const struct disk_host *h, struct arena *a, const struct disks *all,
		     const char *path, struct disk *ret, struct err *e)
{
	const char *dev = disk_dev_at(h->root_fd, a, path);
	const struct disk *d = NULL;
	int r = no_partition(h, a, path, dev, e);

	if (r < 0)
		return r;
	if (dev)
		d = by_dev(all, dev);
	else if (str_has_prefix(path, by_id))
		d = by_volume_id(all, arena_printf(a, "vol-%s", path + strlen(by_id)), NULL);
	else
		d = by_name(all, path);
	if (!d)
		return absent(e, path);
	r = same_by_name(all, path, d, e);
	if (r < 0)
		return r;
	*ret = *d;
	if (dev)
		ret->node = path;
	return 0;
}

static int find_paths(const struct disk_host *h, struct arena *a, const struct disks *all,
		      const struct strv *paths, struct disks *ret, struct err *e)
{
	for (size_t i = 0; i < paths->n; i++) {
		struct disk d;
		int r = find_path(h, a, all, paths->v[i], &d, e);

		if (r < 0)
			return r;
		if (by_dev(ret, d.dev))
			return err_config(e, "%s is a disk that another path means too: %s",
					  paths->v[i], d.name);
		arena_push(a, ret->v, ret->n, d);
	}
	return 0;
}

static int by_serial(const void *x, const void *y)
{
	const struct disk *a = x, *b = y;
	int r = strcmp(a->serial, b->serial);

	return r ? r : strcmp(a->name, b->name);
}

/* Lists the instance store's controllers in a folder that have made no disk yet. */
static void add_late(const struct disk_host *h, struct arena *a, const char *folder,
		     bool (*is_store)(const struct disk_host *h, struct arena *a, const char *at),
		     const char *child, struct strv *missing)
{
	const struct strv all = walk_list(a, h->root_fd, folder, "");

	for (size_t i = 0; i < all.n; i++) {
		const char *at = arena_printf(a, "%s/%s", folder, all.v[i]);
		const struct strv in = walk_list(a, h->root_fd, at, "");
		bool has = false;

		if (!is_store(h, a, at))
			continue;
		for (size_t k = 0; k < in.n; k++)
			has |= str_has_prefix(in.v[k], child);
		if (!has)
			strv_add(a, missing, all.v[i]);
	}
}

static bool is_store_controller(const struct disk_host *h, struct arena *a, const char *at)
{
	return str_eq(disk_attr(h, a, arena_printf(a, "%s/model", at)), DISK_MODEL_STORE);
}

/* Returns whether the device is a controller of Amazon's NVMe instance store. add_late checks that no driver has
 * taken it. */
static bool is_store_function(const struct disk_host *h, struct arena *a, const char *at)
{
	const char *vendor = disk_attr(h, a, arena_printf(a, "%s/vendor", at));
	const char *device = disk_attr(h, a, arena_printf(a, "%s/device", at));
	const char *class = disk_attr(h, a, arena_printf(a, "%s/class", at));

	return str_eq(vendor, "0x1d0f") && device && str_has_prefix(device, "0xcd0") && class &&
	       str_has_prefix(class, "0x0108");
}

/* The number of NVMe disks is unknown, but a controller without a disk will make one. */
static struct strv late_nvme(const struct disk_host *h, struct arena *a)
{
	struct strv missing = { 0 };

	add_late(h, a, "/sys/class/nvme", is_store_controller, "nvme", &missing);
	add_late(h, a, "/sys/bus/pci/devices", is_store_function, "nvme", &missing);
	return missing;
}

/* Orders the disks: first those that IMDS names, in its order, then NVMe disks by serial. So each run has the same
 * order. */
static struct disks store_disks(const struct disk_host *h, struct arena *a, const struct disks *all,
				const char **ret_missing)
{
	struct disks found = { 0 }, nvme = { 0 };
	struct strv missing = { 0 }, late = late_nvme(h, a);

	for (size_t i = 0; i < all->n; i++)
		if (all->v[i].kind == DISK_INSTANCE_STORE && str_has_prefix(all->v[i].name, "nvme"))
			arena_push(a, nvme.v, nvme.n, all->v[i]);
	if (nvme.n)
		qsort(nvme.v, nvme.n, sizeof(*nvme.v), by_serial);
	for (size_t i = 0; i < h->mapping.n; i++) {
		const struct disk *d = NULL;

		if (!str_has_prefix(h->mapping.v[i].key, "ephemeral"))
			continue;
		for (size_t k = 0; k < all->n && !d; k++)
			if (disk_may_be_ec2s(&all->v[k]) &&
			    !str_has_prefix(all->v[k].name, "nvme") &&
			    disk_name_eq(all->v[k].name, h->mapping.v[i].value))
				d = &all->v[k];
		if (d)
			arena_push(a, found.v, found.n, *d);
		else
			strv_add(a, &missing, h->mapping.v[i].value);
	}
	for (size_t i = 0; i < nvme.n; i++)
		arena_push(a, found.v, found.n, nvme.v[i]);
	/* mappings do not apply to an NVMe instance store */
	if (nvme.n || late.n)
		missing = late;
	*ret_missing = missing.n ? strv_join(a, &missing, ", ") : NULL;
	return found;
}

static int find_store(const struct disk_host *h, struct arena *a, const struct disks *all,
		      int64_t nth, struct disks *ret, const char **ret_missing, struct err *e)
{
	const struct disks found = store_disks(h, a, all, ret_missing);

	if (found.n == 0 && *ret_missing)
		return err_fail(e, ERR_SYSTEM, ENODEV,
				"instance store %s is there, but not its disk", *ret_missing);
	if (found.n == 0)
		return err_fail(
			e, ERR_SYSTEM, ENODEV,
			"no instance store: none in the block device mapping, no NVMe disk of "
			"that model");
	if (nth >= (int64_t)found.n)
		return err_fail(e, ERR_SYSTEM, ENODEV,
				"disk %lld of the instance store is not here: it has %zu, from 0",
				(long long)nth, found.n);
	*ret = found;
	if (nth >= 0)
		*ret = (struct disks){ .v = found.v + nth, .n = 1 };
	return 0;
}

int disk_find(const struct disk_host *h, struct arena *a, const struct disk_want *want,
	      struct disks *ret, const char **ret_missing, struct err *e)
{
	struct disks all, found = { 0 };
	const char *missing = NULL;
	const struct disk *d;
	int r = disk_list(h, a, &all, e);

	if (r < 0)
		return r;
	switch (want->by) {
	case DISK_BY_PATHS:
		r = find_paths(h, a, &all, &want->paths, &found, e);
		break;
	case DISK_BY_STORE:
		r = find_store(h, a, &all, want->nth, &found, &missing, e);
		break;
	case DISK_BY_VOLUME_ID:
		d = by_volume_id(&all, want->volume_id, want->attached_as);
		if (!d)
			return absent(e, want->volume_id);
		arena_push(a, found.v, found.n, *d);
		break;
	}
	*ret_missing = missing;
	if (r == 0)
		*ret = found;
	return r;
}

int disk_have_nodes(const struct disk_host *h, const struct disks *found, struct err *e)
{
	for (size_t i = 0; i < found->n; i++) {
		const struct disk *d = &found->v[i];
		struct stat st;

		if (io_stat(h->root_fd, d->node, &st, e) == -ENOENT)
			return err_fail(e, ERR_SYSTEM, ENODEV,
					"disk %s is here, but not its node %s", d->name, d->node);
	}
	return 0;
}
