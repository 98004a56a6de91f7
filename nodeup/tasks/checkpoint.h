/* checkpoint.h - kubelet's checkpoints of assigned CPUs and memory
 * kubelet stops at its start if a checkpoint is of another policy. With the static policy kubelet also stops if the
 * checkpoint's CPUs are not exactly the machine's. Without a checkpoint kubelet begins anew.
 * Owner: none. Errors: SYSTEM. Threads: all functions.
 * Source: Kubernetes pkg/kubelet/cm/cpumanager (state_checkpoint.go, policy_static.go) and memorymanager.
 * Tests: test_checkpoint.c. */
#pragma once

#include "nodeup/tasks/task.h"

enum checkpoint {
	CHECKPOINT_RIGHT,  /* right, missing, or not known to be wrong */
	CHECKPOINT_WRONG,  /* would stop a kubelet that starts now */
	CHECKPOINT_OTHERS, /* seems wrong, but a drop-in of kubelet's unit sets the policy too */
};

/* Judges a service's checkpoint. `why` gets the fault, cut at size. */
enum checkpoint checkpoint_judge(int root_fd, const char *unit, const struct task_checkpoint *c,
				 char *why, size_t size);
/* Renames the checkpoint to "NAME.old", where kubelet does not look. */
int checkpoint_put_aside(int root_fd, const struct task_checkpoint *c, struct err *e) must_check;
