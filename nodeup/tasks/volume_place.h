/* volume_place.h - whether a volume's disks and its mount point are for it alone
 * Asked by its check, so that plan and apply refuse the same things before anything is done.
 * Owner: the arena. Errors: REFUSED, SYSTEM. Threads: all functions. */
#pragma once

#include "nodeup/tasks/task.h"

/* No disk of it is also another volume's, however each of them names it. */
int volume_place_disks(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		       const struct disks *disks, struct err *e) must_check;
/* Its mount point is mounted from these disks already, or free and nothing that a mount would hide. */
int volume_place_path(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		      const struct disks *disks, struct err *e) must_check;
/* Of the mount unit of a volume that is not mounted: nothing came to its mount point since that was
 * looked at first, which may be minutes ago. */
int volume_place_unit(const struct task *unit, struct task_ctx *ctx, struct err *e) must_check;
