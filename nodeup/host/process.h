/* process.h - the flags of a running process
 * These flags are the sum of documents, drop-ins and a person's edits.
 * Owner: the arena. Errors: none: a process that cannot be read has no known flags. Threads: all functions.
 * Source: proc(5), pflag.
 * Tests: test_disruption.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/mem.h"

/* Returns the value of the last --NAME=VALUE or --NAME VALUE of a process; "" for a flag without a value. NULL: no
 * such flag, pid 0, or a process that cannot be read. An underscore counts as a dash. */
const char *process_flag(struct arena *a, int root_fd, uint32_t pid, const char *name);
/* Returns the value of the last FLAG=VALUE or FLAG VALUE in the text of a command line; NULL: it is missing, or flag
 * is NULL. */
const char *process_flag_in(struct arena *a, const char *text, const char *flag);
