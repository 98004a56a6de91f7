/* kinds.h - the table of task kinds
 * A kind is a file of this room, or of nodeup/move, with its operations. The plan gives each task those of its
 * kind; some tasks get others, which are named here, too.
 * Bodies: unit_off.c.
 * Owner: none, constants. Errors: none. Threads: all.
 * Tests: test_deps.c, test_unit_start.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Kinds that a person looks for together, in the order of a run. */
enum task_group {
	TASKS_DISKS,
	TASKS_SYSTEM,
	TASKS_ASSETS,
	TASKS_PROGRAMS,
	TASKS_FILES,
	TASKS_UNITS,
	TASK_GROUP_MAX
};

struct task_kind_row {
	const struct task_ops *ops;
	enum task_group group;
};

/* By kind. */
extern const struct task_kind_row task_kinds[TASK_KIND_MAX];
/* By group: what a plan calls it. */
extern const char *const task_group_names[TASK_GROUP_MAX];

/* Ends what a difference of such a unit is called: runs that are remembered are searched for it. */
#define TASK_DISABLED "the documents disable it"
/* For a unit that is not to run: stopped, and disabled. */
extern const struct task_ops task_unit_off_ops;
/* Ask the manager about a unit, with its links; -ENOTCONN: there is no manager. */
int task_get_unit(struct task_ctx *ctx, struct arena *a, const char *name, struct bus_unit *u,
		  struct err *e) must_check;
/* Disable and stop a unit; called as apply is. */
int task_unit_off(struct task_ctx *ctx, const char *name, struct task_run *run,
		  struct err *e) must_check;

/* Follow run->job, which stops it, to its end. */
int task_follow_stop(struct task_ctx *ctx, struct task_run *run, struct err *e) must_check;

/* For a file that nodeup wrote once and the documents no longer name. */
extern const struct task_ops task_leftover_ops, task_superseded_ops;

/* For an asset of which no record is believed. */
extern const struct task_ops task_asset_recheck_ops;

/* Those of each kind. */
#define DECLARE_OPS(kind, ops, ...) extern const struct task_ops ops;
TASK_KINDS(DECLARE_OPS)
