/* checkpoint.h - what kubelet remembers of the CPUs and the memory that it gave away
 * kubelet ends at its start where a checkpoint is of another policy than it has, or gives other CPUs than the machine
 * has. Without one it begins anew.
 * Owner: none. Errors: SYSTEM. Threads: all functions.
 * Source: Kubernetes pkg/kubelet/cm/cpumanager (state_checkpoint.go, policy_static.go) and memorymanager. */
#pragma once

#include "nodeup/tasks/task.h"

/* Whether it would end kubelet that starts now; why, with its name, is cut at size. One that is not there, or of which that
 * cannot be told, would not. */
bool checkpoint_is_wrong(int root_fd, const struct task_checkpoint *c, char *why, size_t size);
/* Give it another name, at which kubelet does not look: ".old" behind it. */
int checkpoint_put_aside(int root_fd, const struct task_checkpoint *c, struct err *e) must_check;
