/* docker.h - the command line of the installed docker
 * Reads docker's unit and drop-ins in systemd's order, but leaves out our own drop-ins. Finds whether the command
 * uses the options of /etc/sysconfig/docker; if not, finds the command that would use them.
 * Owner: the arena. Errors: none; files that cannot be read are left out. Threads: one.
 * Source: systemd.unit(5), systemd.exec(5).
 * Tests: test_probe_docker.c. */
#pragma once

#include "nodeup/config/facts.h"

/* Fills is_ours, exec_start and is_late of a host with docker.service. Returns the command that its unit runs now,
 * or NULL. */
const char *probe_docker(struct arena *a, int root_fd, struct runtime *r);
