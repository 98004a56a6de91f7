/* session_disks.h - the disks of this machine, for a run
 * Owner: the session's arena. Errors: as the parts. Threads: one.
 * Tests: test_loop_disks.py, test_master_volumes.py. */
#pragma once

#include "nodeup/cmd/session.h"

/* Give the tasks the host's disks, see that no other instance has a volume of EBS, and find the UUIDs that volumes
 * which persist have already; not in an image. Reads only. */
int session_disks(struct session *s, const struct session_req *req, struct plan_req *plan,
		  struct err *e) must_check;
/* Look at every volume before anything is changed: what must not be done is an error here. */
int session_preflight(struct session *s, struct err *e) must_check;
