/* enable.h - enablement of a unit on a root that is not running: the links of its [Install] section
 * On a running host the manager makes these links (bus_enable); an image has no manager.
 * Owner: none. Errors: SYSTEM; CONFIG if no folder has the unit file. Threads: all functions.
 * Source: systemd.unit(5), [Install]: WantedBy=, RequiredBy=, Alias=.
 * Tests: test_enable.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/flush.h"
#include "nodeup/base/mem.h"

/* Finds the unit's file in the folders that systemd reads after /etc/systemd/system; NULL: none of them has the
 * file. */
const char *enable_other(int root_fd, struct arena *a, const char *unit);
/* Checks whether all links exist. */
int enable_check(int root_fd, const char *unit, bool *ret_enabled, struct err *e) must_check;
/* Creates the missing links. The links are flushed with f, or at once if f is NULL. */
int enable_apply(int root_fd, const char *unit, struct flush *f, struct err *e) must_check;
/* Removes the links that exist. */
int enable_remove(int root_fd, const char *unit, struct err *e) must_check;
