/* volume.h - what the edge and other tasks ask about a volume
 * Owner: the arena. Errors: as disk_find and judge_disks. Threads: all functions. */
#pragma once

#include "nodeup/tasks/task.h"
#include "nodeup/volumes/judge.h"

/* What is asked of its disks; `uuid` is the one of a task, or NULL. */
struct volume_req volume_req_of(struct arena *a, const struct node_volume *want, const char *uuid,
				const char *machine);
/* Whether its file system can be made so at all, over that many disks (0: not known yet). */
int volume_fits(const struct node_volume *want, size_t n_disks, struct err *e) must_check;
/* The disks meant, as disk_find gives them; -ENODEV for a volume known by its tag alone. */
int volume_disks(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		 struct disks *ret, const char **ret_missing, struct err *e) must_check;
/* Of the mount unit of a volume that is not mounted: nothing came to its mount point since that was
 * looked at first, which may be minutes ago. REFUSED otherwise. */
int volume_mount_is_free(const struct task *unit, struct task_ctx *ctx, struct err *e) must_check;
/* What a volume is now and what would be done, a line for each disk, for plan. Reads only. */
void volume_describe(const struct task *t, struct task_ctx *ctx, struct arena *a, struct strv *ret);
