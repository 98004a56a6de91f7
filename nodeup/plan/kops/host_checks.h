/* host_checks.h - what a host must have for programs of today's kops
 * Owner: a static table. Errors: none. Threads: all functions.
 * Source: as nodeup/plan/host_checks.h.
 * Tests: test_kops_checks.c. */
#pragma once

#include "nodeup/plan/host_checks.h"

extern const struct host_check kops_host_checks[];
