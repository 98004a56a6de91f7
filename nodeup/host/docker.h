/* docker.h - how the docker that is installed is started
 * Reads its unit and drop-ins in systemd's order, without our own: whether the command takes the
 * options of /etc/sysconfig/docker, and what it has to be when it does not.
 * Owner: the arena. Errors: none; what cannot be read is not there. Threads: one.
 * Source: systemd.unit(5), systemd.exec(5).
 * Tests: test_probe_docker.c. */
#pragma once

#include "nodeup/config/facts.h"

/* Fill is_ours, exec_start and is_late of a host that has docker.service. Returns what its unit runs
 * now, or NULL. */
const char *probe_docker(struct arena *a, int root_fd, struct runtime *r);
