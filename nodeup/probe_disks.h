/* probe_disks.h - how many disks of the instance store this machine has
 * Owner: the arena. Errors: NET, SYSTEM. Threads: one. */
#pragma once

#include "nodeup/aws/imds.h"
#include "nodeup/config/facts.h"

/* Fill the fact instanceStore unless it is given; m NULL: nobody is asked what is mapped. */
int probe_instance_store(struct arena *a, int root_fd, struct imds *m, struct facts *f,
			 struct err *e) must_check;
