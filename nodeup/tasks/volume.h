/* volume.h - what the edge and other tasks ask about a volume
 * Owner: the arena. Errors: as disk_find and judge_disks. Threads: all functions.
 * Tests: test_volume.c, test_volume_ephemeral.c, test_volume_place.c. */
#pragma once

#include "nodeup/tasks/task.h"
#include "nodeup/volumes/judge.h"

/* The word of EC2 on volumes of EBS. */
struct volume_guard {
	struct strmap attached_as; /* by volume id: the names of disks that tell no id */
	/* Fails unless disks that came during the run are this instance's alone, before they are used. REFUSED: they are not;
	 * NET: that must be known, and is not. */
	int (*may_use)(void *arg, const struct node_volume *want, const struct disks *disks,
		       struct err *e);
	void *arg;
};

/* Returns what is asked of its disks; `uuid` is the one of a task, or NULL. */
struct volume_req volume_req_of(struct arena *a, const struct node_volume *want, const char *uuid,
				const char *machine);
/* Fail unless its file system can be made so at all, over that many disks (0: not known yet). */
int volume_fits(const struct node_volume *want, size_t n_disks, struct err *e) must_check;
/* The disks meant, as disk_find gives them. */
int volume_disks(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		 struct disks *ret, const char **ret_missing, struct err *e) must_check;
/* Fail unless, for the mount unit of a volume that is not mounted, nothing came to its mount point since that was
 * looked at first, which may be minutes ago. REFUSED otherwise. */
int volume_mount_is_free(const struct task *unit, struct task_ctx *ctx, struct err *e) must_check;
/* Describe what a volume is now and what would be done, a line for each disk, for plan. Reads only. */
void volume_describe(const struct task *t, struct task_ctx *ctx, struct arena *a, struct strv *ret);
/* Returns, before anything is made, for disks that a document names by path, what the record says, whatever has the name now, else
 * what they carry, else one of their own if they are volumes of EBS. Of a volume by its id that persists: what it carries, else
 * what the record says. NULL: nothing is known, it will be volume_uuid() of this machine or of the volume's id. Asked once a run:
 * the mount unit and mkfs get the same. A record counts only on the machine that wrote it. Reads only. */
const char *volume_recorded_uuid(const struct node_volume *want, struct task_ctx *ctx,
				 struct arena *a);
