/* mkfs.h - make a file system or swap space: one row of a table each
 * The UUID is the caller's choice. Nothing is discarded (instance store comes trimmed, and a discard
 * of a large disk takes minutes) and ext4's tables are made lazily. Options of a document pass only
 * if they are in the table of mkfs_options.c: none that names another device or place on it.
 * Owner: the caller's. Errors: CONFIG for what cannot be asked for and for a tool that is not
 * installed; SYSTEM with the tool's last line. Units: bytes. Threads: all functions.
 * Source: mke2fs(8), mkfs.xfs(8), mkfs.btrfs(8), mkswap(8).
 * Tests: test_mkfs.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/str.h"

struct mkfs_kind {
	const char *fs;          /* "ext4" */
	const char *type;        /* what libblkid calls it */
	const char *tool;        /* "mkfs.ext4" */
	const char *package;     /* that has the tool */
	uint64_t size_min;       /* of each disk */
	size_t label_max;        /* bytes */
	bool several;            /* can span disks by itself */
	bool on_raid;            /* spans disks by md */
	const char *const *args; /* always given */
	const char *extended;    /* what "-E" is given; a second one would replace it. NULL: none */
	const char *uuid_arg;    /* "-U", or "-m uuid=" with the UUID joined to it */
	const char *
		force_arg; /* needed where there are traces of an interrupted attempt; NULL: none */
};

struct mkfs_req {
	const char *fs;
	struct strv nodes; /* the disks */
	const char *uuid;
	const char *label;   /* NULL: none */
	const char *raid;    /* NULL: one disk, or raid0 */
	struct strv options; /* of a document */
	bool again;          /* over an attempt of ours that was interrupted */
	int lock_fd;         /* a lock that the tool keeps when we are killed; 0: none */
};

/* The row of a file system, or NULL. */
const struct mkfs_kind *mkfs_kind(const char *fs);
/* Fail unless this can be asked for at all: file system, label, options, raid with that many disks
 * (0: not known yet). The message names no document. */
int mkfs_check(const struct mkfs_req *req, size_t n_disks, struct err *e) must_check;
/* Only the options, split at blanks into arguments. */
int mkfs_options(struct arena *a, const char *fs, const struct strv *options, struct strv *ret,
		 struct err *e) must_check;
/* The whole command line. */
struct strv mkfs_argv(struct arena *a, const struct mkfs_req *req);
/* Run it; the caller has proven that the disks are blank. */
int mkfs_run(const struct mkfs_req *req, struct err *e) must_check;
