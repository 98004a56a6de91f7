/* disks.h - how many disks of the instance store this machine has, and how they become one
 * Owner: the arena. Errors: NET, SYSTEM. Threads: one.
 * Tests: test_probe_disks.c. */
#pragma once

#include "nodeup/aws/imds.h"
#include "nodeup/config/facts.h"

/* Fill the facts instanceStore and raid unless they are given; m NULL: what is mapped is not asked.
 * What was made of the disks of volume before says how they are made one from then on, and that there
 * are some, even if none is here yet; f->instance_id tells whether it was this machine. */
int probe_instance_store(struct arena *a, int root_fd, struct imds *m, const char *volume,
			 struct facts *f, struct err *e) must_check;
