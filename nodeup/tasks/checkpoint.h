/* checkpoint.h - what kubelet remembers of the CPUs and the memory that it gave away
 * kubelet ends at its start where a checkpoint is of another policy than it has, or gives other CPUs than the machine
 * has. Without one it begins anew.
 * Owner: none. Errors: SYSTEM. Threads: all functions.
 * Source: Kubernetes pkg/kubelet/cm/cpumanager (state_checkpoint.go, policy_static.go) and memorymanager.
 * Tests: test_checkpoint.c. */
#pragma once

#include "nodeup/tasks/task.h"

enum checkpoint {
	CHECKPOINT_RIGHT, /* also one that is not there, or of which it cannot be told */
	CHECKPOINT_WRONG, /* it would end kubelet that starts now */
	CHECKPOINT_OTHERS, /* it would by what is known here, but a drop-in of kubelet's sets the policy as well */
};

/* Judges the one of a service; why, with its name, is cut at size. */
enum checkpoint checkpoint_judge(int root_fd, const char *unit, const struct task_checkpoint *c,
				 char *why, size_t size);
/* Give it another name, at which kubelet does not look: ".old" behind it. */
int checkpoint_put_aside(int root_fd, const struct task_checkpoint *c, struct err *e) must_check;
