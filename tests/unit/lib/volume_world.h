/* volume_world.h - one volume task on a disk_box, and what came of it
 * Owner: volume_world_new/volume_world_done, for cmocka. Errors: the test fails. Threads: one. */
#pragma once

#include "nodeup/tasks/volume.h"
#include "nodeup/tasks/volume_uuid.h"
#include "tests/unit/lib/disk_box.h"

#define MIB ((uint64_t)1 << 20)
#define MACHINE "i-0a1b"

struct world {
	struct disk_box box;
	struct task_ctx ctx;
	struct node_volume want;
	struct task task;
	struct task_diff diff;
	struct task_run run;
	struct err e;
};

/* A task that wants ext4 on all of the instance store at /data, and no disk. */
int volume_world_new(void **state);
int volume_world_done(void **state);
/* Plug in a disk of the instance store, of 32 MiB or another size. */
void plug(struct world *w, const char *name);
void plug_sized(struct world *w, const char *name, uint64_t size);
/* Want a volume of EBS instead, which outlives the instance, and plug it in. */
void plug_ebs(struct world *w);
/* Write a program to /tools of the box; executable, or a PATH would lead on to that of this machine. */
void put_tool(struct world *w, const char *name, const char *text);
/* The task's check and apply; the second fails the test when it is not done. */
int check(struct world *w);
int apply(struct world *w);
void apply_well(struct world *w);
/* When a disk was written last, and that it was not since. */
struct timespec touched(struct world *w, const char *name);
void assert_untouched(struct world *w, const char *name, struct timespec since);
/* check and apply fail alike, and the disk stays as it was. */
void assert_left_alone(struct world *w, const char *name, enum err_kind kind, const char *text);
/* A note of the last error; "" if it has none of that label. */
const char *note(const struct world *w, const char *label);
