#include "nodeup/aws/imds_disks.h"

#include <string.h>

static const char folder[] = "meta-data/block-device-mapping";

/* No instance has more disks; a longer list is not a list of disks. */
enum { DISKS_MAX = 128 };

int imds_instance_type(struct imds *m, struct arena *a, const char **ret, struct err *e)
{
	int r = imds_get(m, a, "meta-data/instance-type", ret, e);

	if (r == -ENOENT)
		*ret = NULL;
	return r < 0 && r != -ENOENT ? err_wrap(e, "instance type") : 0;
}

int imds_block_devices(struct imds *m, struct arena *a, struct strmap *ret, struct err *e)
{
	struct strmap map = { 0 };
	const char *text;
	int r = imds_get(m, a, arena_printf(a, "%s/", folder), &text, e);

	if (r == -ENOENT)
		return 0;
	if (r < 0)
		return err_wrap(e, "block device mapping");
	for (const char *line = text; *line && map.n < DISKS_MAX;) {
		size_t n = strcspn(line, "\n");
		const char *name = str_trim(a, arena_strn(a, line, n)), *device;

		line += n + (line[n] == '\n');
		if (*name == '\0' || strchr(name, '/'))
			continue;
		r = imds_get(m, a, arena_printf(a, "%s/%s", folder, name), &device, e);
		/* a volume may be detached between the two questions */
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return err_wrap(e, "block device mapping: %s", name);
		strmap_set(a, &map, name, str_trim(a, device));
	}
	*ret = map;
	return 0;
}
