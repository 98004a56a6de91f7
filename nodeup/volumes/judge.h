/* judge.h - what may be done with the disks of a volume
 * OURS when all carry the file system that was to be made; ADOPT when a volume that persists carries
 * one of the wanted kind already; FORMAT only when each disk is blank and unused, or is one
 * that our own mkfs was interrupted on in this boot. Everything else is an error that says what is there.
 * A disk of the instance store that is as EC2 made it counts as blank for what need not persist (ephemeral.h).
 * If a record ties a device name to a disk, any other disk under that name is refused until the record
 * is removed.
 * Owner: the arena. Errors: REFUSED for data and for disks in use, SYSTEM for unreadable ones, CONFIG
 * for too small, read-only and too few ones. Threads: all functions.
 * Tests: test_disk_record.c. */
#pragma once

#include "nodeup/volumes/disk.h"
#include "nodeup/volumes/mkfs.h"
#include "nodeup/volumes/disk_record.h"

struct volume_req {
	const char *name;     /* "/data", "swap" */
	const char *path;     /* where it is mounted; NULL: nowhere */
	const char *asked;    /* "ig_spec.yaml:18:5" */
	const char *machine;  /* instance id */
	struct mkfs_req mkfs; /* nodes and again are filled here */
	bool persist;
	bool by_name; /* asked for by a name that another disk may have next time: the record counts */
};

enum verdict {
	VERDICT_OURS,
	VERDICT_ADOPT,
	VERDICT_FORMAT,
	VERDICT_ASSEMBLE, /* members of our array, which is not started */
};

struct judged {
	enum verdict verdict;
	bool raid;       /* FORMAT: make an array of the disks first */
	struct disks on; /* what carries the file system, or is to: the disks, or their array */
	struct disks ephemeral; /* FORMAT: as EC2 made them, and blank by that alone */
	bool is_cloud_inits;    /* OURS: cloud-init has a line of fstab for it, which is to go */
	bool again;             /* FORMAT: over what our interrupted mkfs left */
	bool recorded;          /* OURS: and its record says so */
	const char *uuid;       /* what the disks carry, or will */
};

/* The refusal of a disk that is in use. */
int judge_refuse_used(struct err *e, struct arena *a, const struct volume_req *req,
		      const struct disk *d, const char *who) must_check;
/* Look at the disks, for reading only. */
int judge_disks(const struct disk_host *h, struct arena *a, const struct volume_req *req,
		const struct disks *disks, struct judged *ret, struct err *e) must_check;
