/* occupied.h - whether this host has pods, or may have some
 * Directories on which a volume is to be mounted must be nobody's. kubelet's directory of pods stays over a reboot.
 * The runtime's directories in /run name what runs, even while the runtime itself is stopped; docker's directory and
 * containerd also know containers that ended. A directory that cannot be read counts, and so does a containerd that
 * does not answer. Only a user with all rights gets a useful answer.
 * Owner: the arena. Errors: none. Threads: one.
 * Source: kubelet --root-dir; containerd's runtime v1 and v2; docker's data-root.
 * Tests: test_occupied.c. */
#pragma once

#include "nodeup/base/mem.h"

/* Returns what shows that there are or may be pods, for people; NULL: there are none. docker_root NULL: the usual
 * directory. */
const char *occupied_by(struct arena *a, int root_fd, const char *docker_root);
