/* disk.h - the block devices of this machine, told apart by what they are and not by their names
 * All is read through a disk_host, so that each generation of instances is a directory of fixtures:
 * /sys, /dev, /proc and /run below one root, ioctl and pread as functions. Nothing here opens a
 * device for writing.
 * Owner: the arena. Errors: SYSTEM. Units: bytes. Threads: all functions.
 * Source: sysfs(5), the kernel's Documentation/ABI/stable/sysfs-block; EC2's guide on device names. */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include "nodeup/base/str.h"

struct disk_host {
	int root_fd;
	/* ioctl(2) and pread(2); NULL: the system's own */
	int (*ioctl)(void *arg, int fd, unsigned long request, void *value);
	ssize_t (*pread)(void *arg, int fd, void *data, size_t n, off_t at);
	void *arg;
	/* IMDS block-device-mapping: "ephemeral0" = "sdb"; empty where there is none */
	struct strmap mapping;
};
