/* disk.h - the block devices of this machine, identified by their properties, not their names
 * Reads everything through a disk_host, so that a test can replace it: /sys, /dev and /proc by a directory of
 * fixtures for each generation of instances, ioctl and pread by functions. Nothing here opens a device for writing.
 * Owner: the arena. Errors: SYSTEM. Units: bytes. Threads: all functions. Source: the kernel's
 * Documentation/ABI/stable/sysfs-block; EC2's guide on device names; NVMe base specification, Identify;
 * amazon-ec2-utils' ebsnvme-id.
 * Tests: test_disk.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "nodeup/base/str.h"

/* The model of NVMe disks of an instance store. */
#define DISK_MODEL_STORE "Amazon EC2 NVMe Instance Storage"

struct disk_host {
	int root_fd;
	/* ioctl(2) and pread(2); NULL: the system's own */
	int (*ioctl)(void *arg, int fd, unsigned long request, void *value);
	ssize_t (*pread)(void *arg, int fd, void *data, size_t n, off_t at);
	void *arg;
	/* IMDS block-device-mapping: "ephemeral0" = "sdb"; empty if there is none */
	struct strmap mapping;
	/* IMDS instance-type: "m3.medium"; NULL unknown */
	const char *instance_type;
};

enum disk_kind { DISK_OTHER, DISK_EBS, DISK_INSTANCE_STORE };

struct disk {
	const char *name; /* the kernel's name in this boot: "nvme1n1" */
	const char *node; /* path to open: "/dev/nvme1n1", or the path that the document names */
	const char *dev;  /* "259:3" */
	enum disk_kind kind;
	const char *model, *serial; /* trimmed; "" if the disk has none */
	const char *volume_id;      /* EBS over NVMe: "vol-0abc"; else NULL */
	const char *ec2_name; /* EC2's name for the disk, without "/dev/": "sdf"; NULL unknown */
	uint64_t size;
	uint64_t seq; /* diskseq: unique in a boot; 0 unknown */
	bool read_only;
	struct strv partitions; /* "nvme1n1p1" */
	struct strv holders;    /* users such as "md127", "dm-0", of the disk and its partitions */
};

struct disks {
	struct disk *v;
	size_t n;
};

/* Lists every whole disk that has a medium, sorted by name. */
int disk_list(const struct disk_host *h, struct arena *a, struct disks *ret,
	      struct err *e) must_check;
/* Returns whether this machine's disks show no ids of volumes, as on Xen. On Nitro the root volume's disk does. */
bool disk_show_no_ids(const struct disk_host *h, struct arena *a);
/* Words a disk for a message: "EBS vol-0abc, 500 GiB". */
char *disk_describe(struct arena *a, const struct disk *d);
/* Opens a disk. -ENODEV: the disk's node belongs to another device now. */
int disk_open(const struct disk_host *h, const struct disk *d, int flags, int *ret_fd,
	      struct err *e) must_check;
/* Returns one line that identifies the disk: equal lines mean the same disk in the same boot. NULL: no line could
 * tell the disk from another disk with the same name, or this boot from the next. A disk without a serial number
 * cannot be told from another if the kernel is older than 5.15, which does not number disks. */
char *disk_identity(struct arena *a, const struct disk_host *h, const struct disk *d);
/* Returns the path by which programs of this machine open the disk, links followed. -ENODEV: the path belongs to
 * another device now. */
int disk_host_path(const struct disk_host *h, struct arena *a, const struct disk *d, char **ret,
		   struct err *e) must_check;
/* Returns whether two of EC2's names ("/dev/sdf", "xvdf") mean one disk. */
bool disk_name_eq(const char *a, const char *b);
/* Returns whether a disk other than NVMe may be EC2's own: EC2's disks have no model, but a LUN has one. */
bool disk_may_be_ec2s(const struct disk *d);
/* Returns one line of a file of /sys or /proc, trimmed; NULL if there is none. */
char *disk_attr(const struct disk_host *h, struct arena *a, const char *path);
/* Returns "259:3", the number of the block device at a path, links followed; NULL: there is none. */
char *disk_dev_at(int root_fd, struct arena *a, const char *path);
