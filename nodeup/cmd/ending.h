/* ending.h - the last words of a command that a signal ends
 * Prints one line at the end: what is kept, and how to go on. A run on a live machine writes its status too.
 * Owner: none. Errors: none, as no caller is left to hear of them. Threads: ending.h's.
 * Tests: test_interrupt.py. */
#pragma once

#include "nodeup/base/ending.h"
#include "nodeup/cmd/cli.h"

/* Callback for ending_begin, with a struct cli: for a command that changes nothing. */
void cmd_ending_looked(void *arg, const struct ending_event *ev);
/* Callback for a command that is done: says nothing. */
void cmd_ending_over(void *arg, const struct ending_event *ev);
/* Callback for ending_tell, with a struct cli: for a command that fills the cache, or a whole root. */
void cmd_ending_made(void *arg, const struct ending_event *ev);
/* Callback for ending_tell, with a struct cli: for a run on this machine; writes the status. */
void cmd_ending_run(void *arg, const struct ending_event *ev);
