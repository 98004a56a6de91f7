#include "nodeup/tasks/kinds.h"

const struct task_kind_row task_kinds[TASK_KIND_MAX] = {
	[TASK_ATTACH] = { &task_attach_ops, TASKS_DISKS },
	[TASK_ETCD] = { &task_etcd_ops, TASKS_DISKS },
	[TASK_HOSTS] = { &task_hosts_ops, TASKS_FILES },
	[TASK_DIR] = { &task_dir_ops, TASKS_FILES },
	[TASK_FILE] = { &task_file_ops, TASKS_FILES },
	[TASK_ASSET] = { &task_asset_ops, TASKS_ASSETS },
	[TASK_UNPACK] = { &task_unpack_ops, TASKS_ASSETS },
	[TASK_INSTALL] = { &task_install_ops, TASKS_PROGRAMS },
	[TASK_SYSCTL] = { &task_sysctl_ops, TASKS_SYSTEM },
	[TASK_USER] = { &task_user_ops, TASKS_SYSTEM },
	[TASK_PACKAGE] = { &task_package_ops, TASKS_SYSTEM },
	[TASK_RELOAD] = { &task_reload_ops, TASKS_UNITS },
	[TASK_IMAGE] = { &task_image_ops, TASKS_ASSETS },
	[TASK_UNIT] = { &task_unit_ops, TASKS_UNITS },
	[TASK_PROGRAM] = { &task_program_ops, TASKS_PROGRAMS },
	[TASK_PULL] = { &task_pull_ops, TASKS_ASSETS },
	[TASK_LINK] = { &task_link_ops, TASKS_FILES },
	[TASK_MODULE] = { &task_module_ops, TASKS_SYSTEM },
	[TASK_STRAY] = { &task_stray_ops, TASKS_SYSTEM },
	[TASK_PREFIX] = { &task_prefix_ops, TASKS_SYSTEM },
	[TASK_KEYRING] = { &task_keyring_ops, TASKS_SYSTEM },
	[TASK_LIFECYCLE] = { &task_lifecycle_ops, TASKS_UNITS },
	[TASK_VOLUME] = { &task_volume_ops, TASKS_DISKS },
	[TASK_STOP] = { &task_stop_ops, TASKS_DISKS },
	[TASK_MOVE] = { &task_move_ops, TASKS_DISKS },
	[TASK_RESUME] = { &task_resume_ops, TASKS_DISKS },
};

const char *const task_group_names[TASK_GROUP_MAX] = {
	[TASKS_DISKS] = "disks",       [TASKS_SYSTEM] = "system", [TASKS_ASSETS] = "assets",
	[TASKS_PROGRAMS] = "programs", [TASKS_FILES] = "files",   [TASKS_UNITS] = "units",
};
