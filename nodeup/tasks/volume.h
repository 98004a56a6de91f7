/* volume.h - questions of nodeup/cmd and of other tasks about a volume
 * Owner: the arena. Errors: as disk_find and judge_disks. Threads: all functions.
 * Tests: test_volume.c, test_volume_ephemeral.c, test_volume_place.c. */
#pragma once

#include "nodeup/tasks/task.h"
#include "nodeup/volumes/judge.h"

/* What EC2 says about EBS volumes. */
struct volume_guard {
	struct strmap attached_as; /* from a volume's id to its device name, if disks show no id */
	/* Called before the use of disks that came during the run. Fails unless only this instance has these disks.
	 * REFUSED: another instance has them; NET: nobody could tell. */
	int (*may_use)(void *arg, const struct node_volume *want, const struct disks *disks,
		       struct err *e);
	void *arg;
};

/* Returns the requirements for the volume's disks; `uuid` is a task's, or NULL. */
struct volume_req volume_req_of(struct arena *a, const struct node_volume *want, const char *uuid,
				const char *machine);
/* Fails unless the volume's file system can be made as wanted on that many disks (0: not known yet). */
int volume_fits(const struct node_volume *want, size_t n_disks, struct err *e) must_check;
/* Finds the volume's disks, as disk_find does. */
int volume_disks(const struct node_volume *want, struct task_ctx *ctx, struct arena *a,
		 struct disks *ret, const char **ret_missing, struct err *e) must_check;
/* For the mount unit of a volume that is not mounted. Fails with REFUSED if an object has come to the mount point
 * since the first check, which may be minutes ago. */
int volume_mount_is_free(const struct task *unit, struct task_ctx *ctx, struct err *e) must_check;
/* Describes a volume's present state and what would be done, a line for each disk, for plan. Only reads. */
void volume_describe(const struct task *t, struct task_ctx *ctx, struct arena *a, struct strv *ret);
/* Returns the volume's UUID before anything is made; NULL: it is not known, and will be volume_uuid() of this
 * machine or of the volume's id. For disks that a document names by path: the record's UUID, whatever disk has the
 * name now; else the UUID on the disks; else, for volumes of EBS, one derived from their ids. For a persistent
 * volume named by its id: the UUID on the disk, else the record's. A run asks for the UUID only once, so the mount
 * unit and mkfs get the same one. A record counts only on the machine that wrote it. Reads only. */
const char *volume_recorded_uuid(const struct node_volume *want, struct task_ctx *ctx,
				 struct arena *a);
