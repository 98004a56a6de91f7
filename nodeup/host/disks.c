#include "nodeup/host/disks.h"

#include <sys/stat.h>
#include "nodeup/aws/imds.h"
#include "nodeup/base/io.h"
#include "nodeup/base/proc.h"
#include "nodeup/config/distro.h"
#include "nodeup/host/kernel.h"
#include "nodeup/volumes/discover.h"
#include "nodeup/volumes/disk_record.h"

/* Returns whether mdadm is here or will be installed. On an unknown distribution a missing mdadm is reported only
 * when it is needed. */
static bool has_mdadm(int root_fd, const struct facts *f)
{
	return program_is_there(root_fd, "mdadm") || !f->distribution ||
	       distro_of(f->distribution)->family != PACKAGE_NONE;
}

static bool can_raid(struct arena *a, const struct disk_host *h, const char *volume,
		     const struct facts *f)
{
	struct disk_record before;

	if (disk_record_get(h->root_fd, a, volume, &before))
		return !str_eq(before.fs, "btrfs");
	return kernel_has_raid0(h->root_fd) && has_mdadm(h->root_fd, f);
}

/* Returns how many disks this machine had for the volume at an earlier time. If it is unknown which machine this is,
 * counts the recorded disks too. */
static int64_t had_before(struct arena *a, const struct disk_host *h, const char *volume,
			  const struct facts *f)
{
	struct disk_record before;

	if (!disk_record_get(h->root_fd, a, volume, &before) ||
	    (f->instance_id && !str_eq(before.machine, f->instance_id)))
		return 0;
	return (int64_t)before.disks.n;
}

int probe_instance_store(struct arena *a, int root_fd, struct imds *m, const char *volume,
			 struct facts *f, struct err *e)
{
	const struct disk_want want = { .by = DISK_BY_STORE, .nth = -1 };
	struct disk_host host = { .root_fd = root_fd };
	const char *missing = NULL;
	struct disks found = { 0 };
	int r = 0;

	if (!f->raid.set)
		f->raid = (struct opt_bool){ true, can_raid(a, &host, volume, f) };
	if (!f->instance_store_used.set)
		f->instance_store_used =
			(struct opt_bool){ true, had_before(a, &host, volume, f) > 0 };
	if (f->instance_store.set)
		return 0;
	if (m)
		r = imds_block_devices(m, a, &host.mapping, e);
	if (r < 0)
		return r;
	r = disk_find(&host, a, &want, &found, &missing, e);
	if (r < 0 && r != -ENODEV)
		return r;
	f->instance_store = (struct opt_int){ true, (int64_t)found.n };
	/* a disk that EC2 promises, or whose controller is here, counts already: the run waits for it */
	for (size_t i = 0; i < host.mapping.n && found.n == 0; i++)
		f->instance_store.v += str_has_prefix(host.mapping.v[i].key, "ephemeral");
	if (f->instance_store.v == 0)
		f->instance_store.v = missing != NULL;
	/* if the instance had disks and lost them, they count too: otherwise docker would start with an empty
	 * directory beside its old content. Without an instance id, the machine builds an image, and its disks say
	 * nothing about the image */
	if (f->instance_store.v == 0 && f->instance_id)
		f->instance_store.v = had_before(a, &host, volume, f);
	return 0;
}
