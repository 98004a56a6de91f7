/* fstab.h - the lines of /etc/fstab about a disk, and those that cloud-init wrote
 * cloud-init writes a line for the first disk of the instance store, whatever becomes of it later, and marks it by
 * the option comment=cloudconfig. Such lines alone are ever removed; all others stay byte for byte, also what another program writes meanwhile.
 * Owner: the arena. Errors: SYSTEM; BUSY while another program writes to it. Threads: all functions. Source: fstab(5); cloud-init's cc_mounts.
 * Tests: test_handed_disks.py. */
#pragma once

#include "nodeup/volumes/disk.h"

struct fstab {
	size_t cloud;  /* how many lines of cloud-init's there are about the disk */
	size_t others; /* and of anybody else's */
	/* where the last of cloud-init's mounts it, as what, and how; NULL without one */
	const char *point, *type, *options;
};

/* The words of a line: device, place, type, options; none of a comment. */
struct strv fstab_words(struct arena *a, const char *line);
/* Read what is said of a disk, by any of its names or by the UUID of what is on it. No file: nothing. */
int fstab_of(const struct disk_host *h, struct arena *a, const struct disk *d, const char *uuid,
	     struct fstab *ret, struct err *e) must_check;
/* Remove cloud-init's lines about it, durably. */
int fstab_drop(const struct disk_host *h, struct arena *a, const struct disk *d, const char *uuid,
	       struct err *e) must_check;
