/* pause.h - between two whole runs: longer each time, and over early when another run made the machine right
 * Owner: none. Errors: none; what cannot be watched is slept through. Units: ns. Threads: one.
 * Source: inotify(7).
 * Tests: test_pause.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The pause after the first run that failed. */
#define PAUSE_FIRST_NS INT64_C(30000000000)

/* The pause after one of this length: twice that, and ten minutes at most. */
int64_t pause_after(int64_t pause_ns);
/* Sleep so long below this root (-1: none that others run on). True: a run of another process succeeded meanwhile,
 * and the rest was not slept. One that fails changes nothing: two that sleep would wake each other for ever. */
bool pause_sleep(int root_fd, int64_t pause_ns);
