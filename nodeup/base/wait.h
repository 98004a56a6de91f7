/* wait.h - the pause before another try, and the wait for a moment
 * Owner: none. Errors: none. Units: nanoseconds of the monotonic clock. Threads: all functions.
 * Source: "Exponential Backoff And Jitter" (full jitter). */
#pragma once

#include <stdint.h>

/* A number between 0 and 1, by chance. */
double wait_chance(void);
/* How long to pause after that many tries, from 1 on: any time up to 0.2 s, which doubles to 5 s. Many
 * nodes that failed together do not come back together. */
int64_t wait_delay(unsigned int attempt);
/* Sleep until dur_now() is this. */
void wait_until(int64_t due_ns);
