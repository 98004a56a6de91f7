/* mkfs.h - makes file systems and swap space; each kind is one row of a table
 * The caller chooses the UUID. Nothing is discarded (an instance store comes trimmed, and discarding a large disk
 * takes minutes), and ext4's tables are made lazily. A document's options pass only if the table of mkfs_options.c
 * has them: none names another device or a place on it.
 * Owner: the caller's. Errors: CONFIG for requests that no tool can meet and for a tool that is not installed;
 * SYSTEM with the tool's last line. Units: bytes. Threads: all functions. Source: mke2fs(8), mkfs.xfs(8),
 * mkfs.btrfs(8), mkswap(8).
 * Tests: test_mkfs.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/str.h"

struct mkfs_kind {
	const char *fs;          /* "ext4" */
	const char *type;        /* libblkid's name of the file system */
	const char *tool;        /* "mkfs.ext4" */
	const char *package;     /* package of the tool */
	uint64_t size_min;       /* least size of each disk */
	size_t label_max;        /* bytes */
	bool several;            /* can span disks by itself */
	bool on_raid;            /* spans disks by md */
	const char *const *args; /* arguments that are always given */
	const char *extended;    /* argument of "-E", which may be given only once; NULL: none */
	const char *uuid_arg;    /* "-U", or "-m uuid=" with the UUID joined to it */
	/* option for disks with traces of an interrupted attempt; NULL: none */
	const char *force_arg;
};

struct mkfs_req {
	const char *fs;
	struct strv nodes; /* the disks */
	const char *uuid;
	const char *label;   /* NULL: none */
	const char *raid;    /* NULL: one disk, or raid0 */
	struct strv options; /* the document's options */
	bool again;          /* the disks may have leftovers of our own interrupted attempt */
	int lock_fd;         /* a lock that the tool keeps if we are killed; 0: none */
};

/* Returns the row of a file system, or NULL. */
const struct mkfs_kind *mkfs_kind(const char *fs);
/* Fails if no tool can meet the request: file system, label, options, raid with that many disks (0: not known yet).
 * The message names no document. */
int mkfs_check(const struct mkfs_req *req, size_t n_disks, struct err *e) must_check;
/* Checks only the options, and splits them at blanks into arguments. */
int mkfs_options(struct arena *a, const char *fs, const struct strv *options, struct strv *ret,
		 struct err *e) must_check;
/* Returns the whole command line. */
struct strv mkfs_argv(struct arena *a, const struct mkfs_req *req);
/* Runs the tool. The caller has proven that the disks are blank. */
int mkfs_run(const struct mkfs_req *req, struct err *e) must_check;
