/* nvme.h - what EC2 says of an EBS volume in the vendor's part of NVMe's Identify Controller
 * It is the one place where a Nitro instance tells which name ("sdf") a volume was attached by.
 * Owner: the caller. Errors: -errno alone. Threads: all functions.
 * Source: NVMe base specification, Identify; amazon-ec2-utils' ebsnvme-id. */
#pragma once

#include "nodeup/volumes/disk.h"

enum { NVME_NAME_MAX = 33 };

/* The name without "/dev/"; -ENOENT when the controller gives none. fd is opened for reading. */
int nvme_ec2_name(const struct disk_host *h, int fd, char ret[static NVME_NAME_MAX]) must_check;
