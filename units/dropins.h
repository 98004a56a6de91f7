/* dropins.h - drop-ins of a service, whoever wrote them
 * Those that systemd writes itself for `systemctl set-property` are left out: they are in effect without a start.
 * Owner: the arena. Errors: none; what cannot be read is not there. Threads: any.
 * Source: systemd.unit(5), systemd.exec(5).
 * Tests: test_foreign.c. */
#pragma once

#include "nodeup/base/str.h"

/* Returns their paths, wherever systemd looks for them, sorted in each folder. */
struct strv unit_dropins(struct arena *a, int root_fd, const char *unit);
/* Returns what they say, and the environment files that they name: path = text. */
struct strmap unit_dropin_texts(struct arena *a, int root_fd, const char *unit);
