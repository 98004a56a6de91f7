/* imds_disks.h - which disks EC2 mapped to this instance, and its type, which says how many it has
 * Only those of Xen and of launch time: an NVMe instance store is not in it, nor is a volume that was
 * attached later.
 * Owner: the arena. Errors: NET. Threads: one. Source: EC2 user guide, "block-device-mapping".
 * Tests: test_imds_disks.c. */
#pragma once

#include "nodeup/aws/imds.h"
#include "nodeup/base/str.h"

/* "m3.medium", asked now: an instance that was stopped may have another; NULL: it tells none. */
int imds_instance_type(struct imds *m, struct arena *a, const char **ret, struct err *e) must_check;
/* "ephemeral0" = "sdb", "root" = "/dev/xvda"; empty where nothing is mapped. */
int imds_block_devices(struct imds *m, struct arena *a, struct strmap *ret,
		       struct err *e) must_check;
