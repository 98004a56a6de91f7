/* pause.h - the pause between two whole runs, which grows, and ends early when another run succeeded
 * Owner: none. Errors: none; if there is no watch, it sleeps the whole time. Units: ns. Threads: one. Source:
 * inotify(7).
 * Tests: test_pause.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* The pause after the first run that failed. */
#define PAUSE_FIRST_NS INT64_C(30000000000)

/* Returns the pause that follows a pause of this length: twice as long, but at most ten minutes. */
int64_t pause_after(int64_t pause_ns);
/* Sleeps for pause_ns below this root (-1: no other process runs there). Returns true at once if another process's
 * run succeeds meanwhile. A failed run does not end the pause: two sleepers would wake each other for ever. */
bool pause_sleep(int root_fd, int64_t pause_ns);
