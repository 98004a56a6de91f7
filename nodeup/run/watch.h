/* watch.h - sleeps until the status of a run changes
 * Open the watch before you read the status: then no change is missed.
 * Owner: the descriptor is the caller's. Errors: none; what cannot be watched is looked at once a second. Units: ns.
 * Threads: one. Source: inotify(7), pidfd_open(2).
 * Tests: test_watch.c. */
#pragma once

#include <stdint.h>

/* Watches the place of status.json, even before the first run makes its directory; -1: it cannot be watched. */
int watch_open(int root_fd);
/* Sleeps until the status changes, the process `pid` (0: none) ends, or dur_now() reaches `until_ns` (0: never). */
void watch_sleep(int fd, int pid, int64_t until_ns);
