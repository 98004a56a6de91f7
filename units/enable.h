/* enable.h - enablement of a unit on a root that is not running: the links of its [Install] section
 * On a running host the manager does this (bus_enable); in an image there is none.
 * Owner: none. Errors: SYSTEM; CONFIG when the unit file is nowhere. Threads: all functions.
 * Source: systemd.unit(5), [Install]: WantedBy=, RequiredBy=, Alias=. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"

/* Whether all links are there. */
int enable_check(int root_fd, const char *unit, bool *ret_enabled, struct err *e) must_check;
/* Create the missing ones. */
int enable_apply(int root_fd, const char *unit, struct err *e) must_check;
