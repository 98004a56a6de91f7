/* judge.h - decides what may be done with a volume's disks
 * OURS: all disks carry the file system that was to be made. ADOPT: a persistent volume carries a file system of the
 * wanted kind already. FORMAT: each disk is blank and unused, or our own mkfs was interrupted on it in this boot. In
 * all other cases the error tells what is on the disks. For a volume that need not persist, an instance-store disk
 * as EC2 made it counts as blank (ephemeral.h). If a record ties a device name to a disk, every other disk under
 * that name is refused until the record is removed. A striped volume that lacks a disk of its record is refused.
 * Owner: the arena. Errors: REFUSED for data and for disks in use, SYSTEM for disks that cannot be read, CONFIG for
 * disks that are too small, read-only or too few. Threads: all functions.
 * Tests: test_disk_record.c. */
#pragma once

#include "nodeup/volumes/disk.h"
#include "nodeup/volumes/mkfs.h"
#include "nodeup/volumes/disk_record.h"

struct volume_req {
	const char *name;    /* "/data", "swap" */
	const char *path;    /* mount point of the volume; NULL: none */
	const char *asked;   /* "ig_spec.yaml:18:5" */
	const char *machine; /* instance id */
	/* members `nodes` and `again` are empty: disk_format fills them in its own copy */
	struct mkfs_req mkfs;
	bool persist;
	bool by_name; /* the disk is named by its device name: another disk may have that name next time, so the
		       * record counts */
};

enum verdict {
	VERDICT_OURS,
	VERDICT_ADOPT,
	VERDICT_FORMAT,
	VERDICT_ASSEMBLE, /* the disks are members of our array, which is not running */
};

struct judged {
	enum verdict verdict;
	bool raid;              /* FORMAT: make an array of the disks first */
	struct disks on;        /* devices of the file system: the disks, or their array */
	struct disks ephemeral; /* FORMAT: disks that count as blank only by ephemeral.h */
	bool is_cloud_inits; /* OURS: cloud-init has a line of fstab for the disk, which must go */
	bool again;          /* FORMAT: over leftovers of our interrupted mkfs */
	bool recorded;       /* OURS: the record, too, says that the disks are ours */
	const char *uuid;    /* UUID that the disks have, or will have */
};

/* Words the refusal of a disk in use. */
int judge_refuse_used(struct err *e, struct arena *a, const struct volume_req *req,
		      const struct disk *d, const char *who) must_check;
/* Judges the disks; only reads. */
int judge_disks(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		const struct disks *disks, struct judged *ret, struct err *e) must_check;
