/* foreign.h - files of others that change what nodeup starts
 * Such files are drop-ins of our units, static pods, and a CNI configuration that sorts before ours, if no task of
 * the plan writes them. An admin may have put them there, so they are named and never changed. Directories of
 * packages (/usr/lib, /lib) and generators are not searched: their owners update them.
 * Owner: the arena. Errors: none: a directory that cannot be read counts as empty. Threads: all.
 * Source: systemd.unit(5), on drop-ins; kubelet's --pod-manifest-path; ConfFiles of CNI's libcni.
 * Tests: test_foreign.c. */
#pragma once

#include "nodeup/tasks/task.h"

/* Returns one line for people for each foreign drop-in, static pod and network. */
struct strv foreign_lines(struct arena *a, int root_fd, struct task *const *tasks, size_t n);
/* Names the foreign drop-ins of a failed unit, as one note. */
void foreign_note(const struct task *unit, int root_fd, struct err *e);
