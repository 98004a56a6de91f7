/* foreign.h - files of others that have a say in what we start
 * Drop-ins of our units, static pods, and the first of several CNI configurations, that no task of the plan wants. They may be an
 * admin's own, so they are named and never touched. Directories of packages (/usr/lib, /lib) and of generators are
 * not looked at: their owners update them.
 * Owner: the arena. Errors: none: a directory that cannot be read has nothing in it. Threads: all.
 * Source: systemd.unit(5), on drop-ins; kubelet's --pod-manifest-path; ConfFiles of CNI's libcni.
 * Tests: test_foreign.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* One line for each such file of the plan's units, each such pod, and such a network: for people. */
struct strv foreign_lines(struct arena *a, int root_fd, struct task *const *tasks, size_t n);
/* Name the foreign drop-ins of a unit that failed, as one note. */
void foreign_note(const struct task *unit, int root_fd, struct err *e);
