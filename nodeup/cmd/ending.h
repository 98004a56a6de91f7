/* ending.h - what a command says when a signal ends it
 * One line in the end: what is kept, and how to go on. A run on a live machine also has a status.
 * Owner: none. Errors: none, as there is no caller left to hear of them. Threads: ending.h's.
 * Tests: test_interrupt.py. */
#pragma once

#include "nodeup/base/ending.h"
#include "nodeup/cmd/cli.h"

/* For ending_begin, with a struct cli: a command that changes nothing. */
void cmd_ending_looked(void *arg, const struct ending_event *ev);
/* For a command that has done all: nothing to say. */
void cmd_ending_over(void *arg, const struct ending_event *ev);
/* For ending_tell, with a struct cli: one that fills the cache, or a whole root. */
void cmd_ending_made(void *arg, const struct ending_event *ev);
/* For ending_tell, with a struct cli: a run on this machine, which has the status. */
void cmd_ending_run(void *arg, const struct ending_event *ev);
