/* disk.h - the block devices of this machine, told apart by what they are and not by their names
 * All is read through a disk_host, so that each generation of instances is a directory of fixtures:
 * /sys, /dev and /proc below one root, ioctl and pread as functions. Nothing here opens a device
 * for writing.
 * Owner: the arena. Errors: SYSTEM. Units: bytes. Threads: all functions.
 * Source: the kernel's Documentation/ABI/stable/sysfs-block; EC2's guide on device names; NVMe base
 * specification, Identify; amazon-ec2-utils' ebsnvme-id.
 * Tests: test_disk.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "nodeup/base/str.h"

/* The name that NVMe disks of an instance store have for themselves. */
#define DISK_MODEL_STORE "Amazon EC2 NVMe Instance Storage"

struct disk_host {
	int root_fd;
	/* ioctl(2) and pread(2); NULL: the system's own */
	int (*ioctl)(void *arg, int fd, unsigned long request, void *value);
	ssize_t (*pread)(void *arg, int fd, void *data, size_t n, off_t at);
	void *arg;
	/* IMDS block-device-mapping: "ephemeral0" = "sdb"; empty where there is none */
	struct strmap mapping;
	/* IMDS instance-type: "m3.medium"; NULL unknown */
	const char *instance_type;
};

enum disk_kind { DISK_OTHER, DISK_EBS, DISK_INSTANCE_STORE };

struct disk {
	const char *name; /* the kernel's, of this boot: "nvme1n1" */
	const char *node; /* where it is opened: "/dev/nvme1n1", or the path of a document */
	const char *dev;  /* "259:3" */
	enum disk_kind kind;
	const char *model, *serial; /* trimmed; "" where it has none */
	const char *volume_id;      /* EBS over NVMe: "vol-0abc"; else NULL */
	const char *ec2_name;       /* EC2's name for it, without "/dev/": "sdf"; NULL unknown */
	uint64_t size;
	uint64_t seq; /* diskseq: no two disks of a boot have the same; 0 unknown */
	bool read_only;
	struct strv partitions; /* "nvme1n1p1" */
	struct strv holders;    /* "md127", "dm-0": of the disk and of its partitions */
};

struct disks {
	struct disk *v;
	size_t n;
};

/* Every whole disk that has a medium, in the order of their names. */
int disk_list(const struct disk_host *h, struct arena *a, struct disks *ret,
	      struct err *e) must_check;
/* "EBS vol-0abc, 500 GiB" for a message. */
char *disk_describe(struct arena *a, const struct disk *d);
/* Open it; -ENODEV when its node has become another device's. */
int disk_open(const struct disk_host *h, const struct disk *d, int flags, int *ret_fd,
	      struct err *e) must_check;
/* One line that says which disk this is: a later one with the same line is the same disk in the same
 * boot. NULL when nothing tells it from another that is plugged in under its name: no serial number,
 * and a kernel before 5.15, which counts no disks; or when nothing tells this boot from the next. */
char *disk_identity(struct arena *a, const struct disk_host *h, const struct disk *d);
/* The path by which a program of this machine opens it, links followed; -ENODEV when that has become
 * another device's. */
int disk_host_path(const struct disk_host *h, struct arena *a, const struct disk *d, char **ret,
		   struct err *e) must_check;
/* Returns whether two names of EC2's ("/dev/sdf", "xvdf") mean one disk. */
bool disk_name_eq(const char *a, const char *b);
/* Returns whether a disk that is not NVMe may be EC2's own: those tell no model, and a LUN does. */
bool disk_may_be_ec2s(const struct disk *d);
/* One line of a file of /sys or /proc, trimmed; NULL if there is none. */
char *disk_attr(const struct disk_host *h, struct arena *a, const char *path);
/* "259:3", the number of the block device at a path, links followed; NULL: there is none. */
char *disk_dev_at(int root_fd, struct arena *a, const char *path);
