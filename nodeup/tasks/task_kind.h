/* task_kind.h - the kinds of tasks
 * Each kind has its operations, and a struct of payload.h for its data.
 * Owner: none. Errors: none. Threads: all. Source: kops upup/pkg/fi/nodeup/nodetasks. */
#pragma once

/* The kind, its operations, its group in a plan, and what it works with or waits for most (kinds.h). */
/* clang-format off */
#define TASK_KINDS(X) \
	X(TASK_DIR, task_dir_ops, TASKS_FILES, LANE_DISK) \
	X(TASK_FILE, task_file_ops, TASKS_FILES, LANE_DISK) \
	X(TASK_ASSET, task_asset_ops, TASKS_ASSETS, LANE_NET) /* verified bytes in the cache */ \
	X(TASK_UNPACK, task_unpack_ops, TASKS_ASSETS, LANE_PROCESSOR) /* members of an archive, staged at their places */ \
	X(TASK_INSTALL, task_install_ops, TASKS_PROGRAMS, LANE_DISK) /* a copy of an asset, or of an archive's member, at its place */ \
	X(TASK_SYSCTL, task_sysctl_ops, TASKS_SYSTEM, LANE_PROCESSOR) \
	X(TASK_USER, task_user_ops, TASKS_SYSTEM, LANE_DISK) /* a user with a group of its own */ \
	X(TASK_PACKAGE, task_package_ops, TASKS_SYSTEM, LANE_NET) /* packages of the distribution */ \
	X(TASK_RELOAD, task_reload_ops, TASKS_UNITS, LANE_SERVICES) /* systemd's daemon-reload, once, when a unit file changed */ \
	X(TASK_IMAGE, task_image_ops, TASKS_ASSETS, LANE_SERVICES) /* an image archive loaded into the runtime */ \
	X(TASK_UNIT, task_unit_ops, TASKS_UNITS, LANE_SERVICES) \
	X(TASK_VOLUME, task_volume_ops, TASKS_DISKS, LANE_DISK) /* a file system or swap space on a volume's disks */ \
	X(TASK_STOP, task_stop_ops, TASKS_DISKS, LANE_SERVICES) /* services stopped before their data are moved */ \
	X(TASK_MOVE, task_move_ops, TASKS_DISKS, LANE_DISK) /* the content of a directory, copied to the place from which it
						  * will be mounted */ \
	X(TASK_RESUME, task_resume_ops, TASKS_DISKS, LANE_SERVICES) /* services that TASK_STOP stopped, started again, also after a
						      * failed move */ \
	X(TASK_HOSTS, task_hosts_ops, TASKS_FILES, LANE_DISK) /* our lines of /etc/hosts */ \
	X(TASK_PROGRAM, task_program_ops, TASKS_PROGRAMS, LANE_DISK) /* nodeup itself, at the boot unit's path */ \
	X(TASK_LINK, task_link_ops, TASKS_FILES, LANE_DISK) /* a symbolic link, unless its place is taken */ \
	X(TASK_PULL, task_pull_ops, TASKS_ASSETS, LANE_NET) /* an image that the runtime pulls from its registry */ \
	X(TASK_MODULE, task_module_ops, TASKS_SYSTEM, LANE_PROCESSOR) /* a module of the kernel */ \
	X(TASK_STRAY, task_stray_ops, TASKS_SYSTEM, LANE_SERVICES) /* services of the distribution that must not run, and their
						     * leftovers */ \
	X(TASK_PREFIX, task_prefix_ops, TASKS_SYSTEM, LANE_NET) /* an IPv6 prefix for the instance's first interface */ \
	X(TASK_KEYRING, task_keyring_ops, TASKS_SYSTEM, LANE_DISK) /* a public key that verifies packages */ \
	X(TASK_LIFECYCLE, task_lifecycle_ops, TASKS_UNITS, LANE_NET) /* a lifecycle hook of the instance's group, completed
							    * when the instance is ready */
/* clang-format on */

#define TASK_KIND_NAME(kind, ...) kind,
enum task_kind { TASK_KINDS(TASK_KIND_NAME) TASK_KIND_MAX };
