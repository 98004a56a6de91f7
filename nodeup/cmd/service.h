/* service.h - nodeup as a service: kops-configuration.service in place, enabled, started
 * At boot the service is what runs apply. Installing it returns as soon as its job is queued, since
 * cloud-init, which asked for it, may be what the job waits for.
 * Owner: none. Errors: SYSTEM, BUSY. Threads: one.
 * Source: kops nodeup/pkg/bootstrap/install.go; docker/docker#23793.
 * Tests: test_own_unit.py, test_uninstall.py. */
#pragma once

#include "nodeup/cmd/cli.h"

/* Write, enable and start the unit with our own command line; with --wait see its first run to the end. */
int service_install(struct cli *cli, struct err *e) must_check;
