#include "nodeup/tasks/kinds.h"

#define KIND_ROW(kind, ops, group, lane) [kind] = { &(ops), (group), (lane) },
const struct task_kind_row task_kinds[TASK_KIND_MAX] = { TASK_KINDS(KIND_ROW) };

const char *const task_lane_names[LANE_MAX] = {
	[LANE_NET] = "net",
	[LANE_PROCESSOR] = "processor",
	[LANE_DISK] = "disk",
	[LANE_SERVICES] = "services",
};

const char *const task_group_names[TASK_GROUP_MAX] = {
	[TASKS_DISKS] = "disks",       [TASKS_SYSTEM] = "system", [TASKS_ASSETS] = "assets",
	[TASKS_PROGRAMS] = "programs", [TASKS_FILES] = "files",   [TASKS_UNITS] = "units",
};
