/* volume_store.h - which disks of the instance store a volume means
 * They have no names that last, and one can come late or be lost: what was made of a disk says more
 * than its place in the row. Reads only.
 * Owner: the arena. Errors: SYSTEM, -ENODEV when the disk is not here. Threads: all functions.
 * Tests: test_volume.c, test_volume_ephemeral.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Those of a volume out of all that are here, in their order. */
int volume_store_pick(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		      const struct disks *all, const char **missing, struct disks *ret,
		      struct err *e) must_check;
