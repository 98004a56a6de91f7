/* holder.h - what the run that holds the lock does, for a person who is refused
 * Reads status.json, which is the holder's if its pid is the one in the lock.
 * Owner: none. Errors: none; what is not known is not said. Units: as status.json has them. Threads: one.
 * Tests: test_lock.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"

/* Add notes to *e, of the holder that the lock's text names: what it waits for, since and until when, its last
 * error, and what can be done. */
void holder_describe(int root_fd, const char *holder, struct err *e);
/* Returns whether the last run below this root was of another process and went well. */
bool holder_succeeded(int root_fd);
