/* disks.h - the number of this machine's instance-store disks, and how they are joined
 * Owner: the arena. Errors: NET, SYSTEM. Threads: one.
 * Tests: test_probe_disks.c. */
#pragma once

#include "nodeup/aws/imds.h"
#include "nodeup/config/facts.h"

/* Fills the facts instanceStore and raid unless they are given. m NULL: does not ask for EC2's mapping. If an
 * earlier run recorded this volume, the record decides how the disks are joined. The volume's disks count even if
 * none is here yet. f->instance_id tells whether the record is this machine's. */
int probe_instance_store(struct arena *a, int root_fd, struct imds *m, const char *volume,
			 struct facts *f, struct err *e) must_check;
