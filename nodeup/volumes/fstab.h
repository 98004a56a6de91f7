/* fstab.h - lines of /etc/fstab about a disk, and which of them cloud-init wrote
 * cloud-init writes a line for the first disk of the instance store, whatever is done with the disk later, and marks
 * the line by the option comment=cloudconfig. nodeup only ever removes cloud-init's lines. All other lines stay byte
 * for byte, even if another program writes meanwhile.
 * Owner: the arena. Errors: SYSTEM; BUSY while another program writes to it. Threads: all functions. Source:
 * fstab(5); cloud-init's cc_mounts.
 * Tests: test_handed_disks.py. */
#pragma once

#include "nodeup/volumes/disk.h"

struct fstab {
	size_t cloud;  /* number of cloud-init's lines about the disk */
	size_t others; /* number of other lines about the disk */
	/* mount point, type and options in cloud-init's last line; NULL: cloud-init has no line */
	const char *point, *type, *options;
};

/* Splits a line into words: device, mount point, type, options; none for a comment. */
struct strv fstab_words(struct arena *a, const char *line);
/* Finds the lines about a disk, by any of its names or by the UUID of its content. A missing file has no lines. */
int fstab_of(const struct disk_host *h, struct arena *a, const struct disk *d, const char *uuid,
	     struct fstab *ret, struct err *e) must_check;
/* Removes cloud-init's lines about the disk, durably. */
int fstab_drop(const struct disk_host *h, struct arena *a, const struct disk *d, const char *uuid,
	       struct err *e) must_check;
