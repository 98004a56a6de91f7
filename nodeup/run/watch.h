/* watch.h - sleep until a run has something else to say
 * A watch that is opened before the status is read misses no change of it.
 * Owner: the descriptor is the caller's. Errors: none; what cannot be watched is looked at once a second.
 * Units: ns. Threads: one. Source: inotify(7), pidfd_open(2).
 * Tests: test_watch.c. */
#pragma once

#include <stdint.h>

/* Watch the place of status.json, also before the first run makes its directory; -1: it cannot be watched. */
int watch_open(int root_fd);
/* Sleep until the status is another one, this process (0: none) ends, or dur_now() is `until_ns` (0: for ever). */
void watch_sleep(int fd, int pid, int64_t until_ns);
