/* swap.h - the swap space of this host, now and after the next boot
 * Owner: the arena. Errors: none: a file that cannot be read counts as empty. Threads: all functions.
 * Source: proc(5) swaps, fstab(5), systemd.swap(5).
 * Tests: test_probe.c. */
#pragma once

#include "nodeup/config/facts.h"

/* Fills swaps (of a running host) and boot_swaps unless they are given. */
void probe_swaps(struct arena *a, int root_fd, bool running, struct facts *f);
