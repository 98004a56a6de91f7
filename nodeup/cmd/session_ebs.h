/* session_ebs.h - asks EC2 whether another instance has a volume of EBS, before this machine first uses it
 * A disk does not say who else has it, and two instances that mount one file system destroy it. Only volumes of the documents
 * that this machine did not use before cost a call, and one call asks for all.
 * Owner: the session's arena. Errors: REFUSED of a volume that another instance has or may have, CONFIG of one whose disk nothing
 * names, NET without an answer. Units: nanoseconds. Threads: one. Source: Amazon EC2 API reference, DescribeVolumes.
 * Tests: test_ec2_emulator.py, test_ec2_faults.py. */
#pragma once

#include "nodeup/cmd/session.h"

/* Ask, and tell the tasks by which names volumes are attached whose disks tell no id. An apply waits for an answer about volumes
 * that are named by id; of one that is named by a device, no answer is a warning: no role of kops' nodes may ask. */
int session_ebs(struct session *s, const struct session_req *req, struct err *e) must_check;
/* Ask once about disks that came later, as volume_guard.may_use; arg is the session. */
int session_may_use(void *arg, const struct node_volume *v, const struct disks *disks,
		    struct err *e) must_check;
