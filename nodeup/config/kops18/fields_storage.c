#include "nodeup/config/kops18/storage.h"

/* clang-format off */

static const struct field bind_fields[] = {
#define F(m, ...) FIELD(struct storage_bind, m, __VA_ARGS__)
	F(source, .key = "source", .required = true, .doc = "folder of the volume, relative"),
	F(target, .key = "target", .required = true, .doc = "where it is seen too"),
	F(units, .key = "units", .doc = "services that use the target"),
#undef F
};
static const struct schema bind_schema =
	SCHEMA(struct storage_bind, "VolumeBind", bind_fields);

/* source: kops pkg/apis/kops/instancegroup.go VolumeMountSpec, and what it lacks */
static const struct field mount_fields[] = {
#define F(m, ...) FIELD(struct storage_mount, m, __VA_ARGS__)
	F(device, .key = "device", .doc = "the disk by its path; /dev/sdf is /dev/xvdf"),
	F(devices, .key = "devices", .doc = "or several of them"),
	F(instance_store, .key = "instanceStore", .doc = "or the instance store: all, or a number from 0"),
	F(volume_id, .key = "volumeID", .doc = "or the EBS volume with this id"),
	F(tag, .key = "tag", .doc = "or the attached EBS volume with this tag: KEY=VALUE"),
	F(path, .key = "path", .doc = "mount point; none for swap"),
	F(filesystem, .key = "filesystem", .oneof = "ext4|xfs|btrfs|swap|", .doc = "ext4 unless given"),
	F(format_options, .key = "formatOptions", .doc = "arguments for mkfs"),
	F(mount_options, .key = "mountOptions", .doc = "noatime unless given"),
	F(raid, .key = "raid", .oneof = "raid0|raid1|raid10|", .doc = "of several disks; raid0 unless given"),
	F(label, .key = "label", .doc = "label of the file system"),
	F(persist, .key = "persist", .doc = "outlives the instance: formatted only if it reads as zeros"),
	F(device_timeout, .key = "deviceTimeout", .doc = "how long the disk may take to appear"),
	FIELD_LIST_OF(struct storage_mount, binds, &bind_schema, .key = "binds",
		      .doc = "folders of it that are seen elsewhere; content there is moved "
			     "first; none at /mnt/master-pd on a master: /var/etcd, "
			     "/srv/kubernetes and /srv/sshproxy"),
#undef F
};
/* clang-format on */

const struct schema storage_mount_schema =
	SCHEMA(struct storage_mount, "VolumeMountSpec", mount_fields);
