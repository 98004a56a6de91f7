#include "nodeup/tasks/kinds.h"

const struct task_ops *const task_kinds[TASK_KIND_MAX] = {
	[TASK_ATTACH] = &task_attach_ops,   [TASK_ETCD] = &task_etcd_ops,
	[TASK_HOSTS] = &task_hosts_ops,     [TASK_DIR] = &task_dir_ops,
	[TASK_FILE] = &task_file_ops,       [TASK_ASSET] = &task_asset_ops,
	[TASK_UNPACK] = &task_unpack_ops,   [TASK_INSTALL] = &task_install_ops,
	[TASK_SYSCTL] = &task_sysctl_ops,   [TASK_USER] = &task_user_ops,
	[TASK_PACKAGE] = &task_package_ops, [TASK_RELOAD] = &task_reload_ops,
	[TASK_IMAGE] = &task_image_ops,     [TASK_UNIT] = &task_unit_ops,
	[TASK_PROGRAM] = &task_program_ops, [TASK_LINK] = &task_link_ops,
	[TASK_VOLUME] = &task_volume_ops,   [TASK_STOP] = &task_stop_ops,
	[TASK_MOVE] = &task_move_ops,       [TASK_RESUME] = &task_resume_ops,
};
