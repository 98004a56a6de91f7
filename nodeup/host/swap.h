/* swap.h - the swap space of this host, now and after the next boot
 * Owner: the arena. Errors: none: what cannot be read is none. Threads: all functions.
 * Source: proc(5) swaps, fstab(5), systemd.swap(5).
 * Tests: test_probe.c. */
#pragma once

#include "nodeup/config/facts.h"

/* Fill swaps, of a host that is running, and boot_swaps, where they are not given. */
void probe_swaps(struct arena *a, int root_fd, bool running, struct facts *f);
