/* kinds.h - the table of task kinds
 * A kind is a file of this room, or of nodeup/move, with its operations. The plan gives each task the operations of
 * its kind, or others that are listed here.
 * Bodies: unit_off.c.
 * Owner: none, constants. Errors: none. Threads: all.
 * Tests: test_deps.c, test_unit_start.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Groups of kinds in a plan, in the order of a run. */
enum task_group {
	TASKS_DISKS,
	TASKS_SYSTEM,
	TASKS_ASSETS,
	TASKS_PROGRAMS,
	TASKS_FILES,
	TASKS_UNITS,
	TASK_GROUP_MAX
};

/* What the time of a task goes to, in a timeline. */
enum task_lane { LANE_NET, LANE_PROCESSOR, LANE_DISK, LANE_SERVICES, LANE_MAX };

struct task_kind_row {
	const struct task_ops *ops;
	enum task_group group;
	enum task_lane lane;
};

/* The rows of all kinds, by kind. */
extern const struct task_kind_row task_kinds[TASK_KIND_MAX];
/* A plan's names of the groups, and a timeline's of the lanes. */
extern const char *const task_group_names[TASK_GROUP_MAX];
extern const char *const task_lane_names[LANE_MAX];

/* The end of the reason for a unit that the documents disable. Records of runs are searched for these words. */
#define TASK_DISABLED "the documents disable it"
/* For a unit that must not run: stopped, and disabled. */
extern const struct task_ops task_unit_off_ops;
/* Asks the manager about a unit, with its links; -ENOTCONN: there is no manager. */
int task_get_unit(struct task_ctx *ctx, struct arena *a, const char *name, struct bus_unit *u,
		  struct err *e) must_check;
/* Disables and stops a unit. Must be called like an apply: again after each wake-up. */
int task_unit_off(struct task_ctx *ctx, const char *name, struct task_run *run,
		  struct err *e) must_check;

/* Follows run->job, the unit's stop job, to its end. */
int task_follow_stop(struct task_ctx *ctx, struct task_run *run, struct err *e) must_check;

/* For a link that masks a unit: a leftover when the documents no longer name it. */
extern const struct task_ops task_mask_ops;

/* For a file that nodeup once wrote and the documents no longer name. */
extern const struct task_ops task_leftover_ops, task_superseded_ops;

/* For an asset in a run that trusts no record. */
extern const struct task_ops task_asset_recheck_ops;

/* The operations of each kind. */
#define DECLARE_OPS(kind, ops, ...) extern const struct task_ops ops;
TASK_KINDS(DECLARE_OPS)
