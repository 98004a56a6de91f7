/* disk_record.h - records of nodeup's work on a volume's disks: /var/lib/nodeup/volumes/NAME
 * A record is written durably before mkfs ("formatting", with the identity of each blank disk) and after it
 * ("done"). So if a run is killed, the next run goes on with the same disks, and with no others. A lost record costs
 * nothing while the disks have their UUID; a damaged record counts as missing.
 * Owner: the arena. Errors: SYSTEM. Threads: all functions.
 * Tests: test_disk_record.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/str.h"

struct disk_record {
	bool done; /* false: formatting had only begun */
	/* instance id of the writer: an image brings a record of its builder's disks */
	const char *machine;
	const char *fs, *uuid;
	const char *label; /* label of the file system; "": none */
	struct strv disks; /* disk_identity() of each disk */
};

/* Reads a volume's record; false: there is none that can be read. */
bool disk_record_get(int root_fd, struct arena *a, const char *volume, struct disk_record *ret);
/* Returns whether this machine has formatted the disk with that serial number to the end, in this boot or before. */
bool disk_record_is_done(const struct disk_record *rec, const char *machine, const char *serial);
/* Returns the known serial numbers of the record's disks. */
struct strv disk_record_serials(struct arena *a, const struct disk_record *rec);
/* Returns whether the record has serial numbers, and `serial` is not among them. A disk without a serial number is
 * never ruled out. */
bool disk_record_rules_out(struct arena *a, const struct disk_record *rec, const char *serial);
/* Returns whether a record of a volume other than `but` (NULL: of any) is about a disk: by its serial number, its
 * identity (NULL: none) or the UUID of its content. A record that cannot be read counts too. */
bool disk_record_speaks_of(int root_fd, struct arena *a, const char *serial, const char *identity,
			   const char *uuid, const char *but);
/* Writes the record. */
int disk_record_set(int root_fd, const char *volume, const struct disk_record *rec,
		    struct err *e) must_check;
/* Removes the record if it exists. */
int disk_record_remove(int root_fd, const char *volume, struct err *e) must_check;
/* Returns the record's path. */
char *disk_record_path(struct arena *a, const char *volume);
