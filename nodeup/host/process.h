/* process.h - the flags that a process runs with
 * What documents, drop-ins and a person's edit have made of them, without asking which of these it was.
 * Owner: the arena. Errors: none: of a process that cannot be looked at no flag is known. Threads: all functions.
 * Source: proc(5), pflag.
 * Tests: test_disruption.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/mem.h"

/* The value of the last --NAME=VALUE or --NAME VALUE of a process; "" of a flag without one. NULL: it has no such flag, pid is 0, or
 * the process cannot be looked at. An underscore stands for a dash. */
const char *process_flag(struct arena *a, int root_fd, uint32_t pid, const char *name);
/* The value of the last FLAG=VALUE or FLAG VALUE in a text that has a command line; NULL: there is none, or flag is NULL. */
const char *process_flag_in(struct arena *a, const char *text, const char *flag);
