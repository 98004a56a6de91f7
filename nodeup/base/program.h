/* program.h - whether a program could be run
 * Owner: none. Errors: none. Threads: all functions. Source: posix_spawnp(3).
 * Tests: test_program.c. */
#pragma once

#include <stdbool.h>

/* Returns whether proc_run() would find a program of that name in PATH. */
bool program_in_path(const char *name);
/* Returns whether one of that name is in a usual folder of the machine below root_fd, whatever PATH is here. */
bool program_is_there(int root_fd, const char *name);
