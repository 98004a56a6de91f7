#include "nodeup/probe_disks.h"

#include "nodeup/aws/imds_disks.h"
#include "nodeup/volumes/discover.h"

int probe_instance_store(struct arena *a, int root_fd, struct imds *m, struct facts *f,
			 struct err *e)
{
	const struct disk_want want = { .by = DISK_BY_STORE, .nth = -1 };
	struct disk_host host = { .root_fd = root_fd };
	const char *missing = NULL;
	struct disks found = { 0 };
	int r = 0;

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
	/* one that is promised and late counts: it is waited for */
	for (size_t i = 0; i < host.mapping.n && found.n == 0; i++)
		f->instance_store.v += str_has_prefix(host.mapping.v[i].key, "ephemeral");
	return 0;
}
