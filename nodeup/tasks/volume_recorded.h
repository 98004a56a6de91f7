/* volume_recorded.h - the UUID of a volume, as far as its record and its disks tell before anything is made
 * Asked once a run, before the plan: the mount unit and mkfs get the same. A record counts only on the
 * machine that wrote it; one that came in an image speaks of the disks of its builder.
 * Owner: the arena. Errors: none. Threads: all functions.
 * Tests: test_volume.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Return, for disks that a document names by path, what the record says, whatever has the name now, else what
 * they carry, else one of their own if they are volumes of EBS. Of a volume by its id that persists:
 * what it carries, else what the record says. NULL: nothing is known, it will be volume_uuid() of this
 * machine or of the volume's id. Reads only. */
const char *volume_recorded_uuid(const struct node_volume *want, struct task_ctx *ctx,
				 struct arena *a);
