/* disk_box.h - a machine's disks as files: /sys/block, /dev and what the controllers say
 * Owner: disk_box_new/disk_box_done. Errors: the test fails. Threads: one. */
#pragma once

#include "nodeup/volumes/disk.h"
#include "tests/unit/lib/scratch.h"

struct disk_box {
	struct scratch root;
	struct disk_host host;
	struct arena *arena;
	unsigned int next_minor;
	/* reads that touch this range fail with EIO; none when bad_to is 0 */
	uint64_t bad_from, bad_to;
};

struct box_disk {
	const char *name;           /* "nvme1n1" */
	const char *model, *serial; /* NULL: no such file */
	const char *ec2_name;       /* what Identify Controller says; NULL: it is not Amazon's */
	uint64_t size;              /* of the file at /dev too; 0: 1 MiB */
	const char *part;           /* a partition, "nvme0n1p1" */
	bool read_only;
};

/* Set up an empty machine. */
void disk_box_new(struct disk_box *b);
/* Remove it. */
void disk_box_done(struct disk_box *b);
/* Plug in a disk, all zeros. */
void disk_box_add(struct disk_box *b, const struct box_disk *d);
/* Unplug it. */
void disk_box_remove(struct disk_box *b, const char *name);
/* As disk_box_remove for one whose file is gone already. */
void disk_box_forget(struct disk_box *b, const char *name);
/* Write bytes on a disk; at < 0 counts from its end. */
void disk_box_poke(struct disk_box *b, const char *name, int64_t at, const void *data, size_t n);
/* The path of its file on this machine. */
char *disk_box_file(struct disk_box *b, const char *name);
