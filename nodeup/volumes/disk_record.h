/* disk_record.h - what nodeup did to the disks of a volume: /var/lib/nodeup/volumes/NAME
 * Written durably before mkfs ("formatting", with the identity of each blank disk) and after it
 * ("done"), so that a run that was killed in between may go on where it began, and only there. Losing
 * it costs nothing while the disks say their UUID; a damaged one is none.
 * Owner: the arena. Errors: SYSTEM. Threads: all functions.
 * Tests: test_disk_record.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/str.h"

struct disk_record {
	bool done; /* else formatting was begun */
	const char
		*machine; /* instance id: a record that was baked into an image speaks of others */
	const char *fs, *uuid;
	const char *label; /* "" without */
	struct strv disks; /* disk_identity() of each */
};

/* The record of a volume; false if there is none that can be read. */
bool disk_record_get(int root_fd, struct arena *a, const char *volume, struct disk_record *ret);
/* Returns whether this machine was done with the disk of that serial number, in this boot or before. */
bool disk_record_is_done(const struct disk_record *rec, const char *machine, const char *serial);
/* The serial numbers of its disks, of those that told one. */
struct strv disk_record_serials(struct arena *a, const struct disk_record *rec);
/* Returns whether it names disks by serial number and this one, which has another, is none of them. Of two disks
 * without a serial number nothing is known. */
bool disk_record_rules_out(struct arena *a, const struct disk_record *rec, const char *serial);
/* Returns whether the record of any volume but one (NULL: of any) speaks of a disk: by its serial number, by its identity (NULL: it has
 * none) or by the UUID of what is on it. One that cannot be read may. */
bool disk_record_speaks_of(int root_fd, struct arena *a, const char *serial, const char *identity,
			   const char *uuid, const char *but);
/* Write it. */
int disk_record_set(int root_fd, const char *volume, const struct disk_record *rec,
		    struct err *e) must_check;
/* Remove it, if it is there. */
int disk_record_remove(int root_fd, const char *volume, struct err *e) must_check;
/* Returns where it is. */
char *disk_record_path(struct arena *a, const char *volume);
