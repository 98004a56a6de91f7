/* service.h - nodeup as a service: kops-configuration.service in place, enabled, started
 * At boot the service is what runs apply. Installing it returns as soon as its start job is queued: the job may wait
 * for cloud-init, which called this command.
 * Owner: none. Errors: SYSTEM, BUSY. Threads: one.
 * Source: kops nodeup/pkg/bootstrap/install.go; docker/docker#23793.
 * Tests: test_own_unit.py, test_uninstall.py. */
#pragma once

#include "nodeup/cmd/cli.h"

/* Writes, enables and starts the unit with our own command line; with --wait waits for the end of its first run. */
int service_install(struct cli *cli, struct err *e) must_check;
