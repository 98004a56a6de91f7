/* notice.h - tells the console, and everybody who logs in, how the node is
 * A node that did not join has no other voice: its console can be read from outside.
 * Invariant: at most NOTICE_LINES lines. Each line names what failed or is waited for, on which object, and the next
 * command. Errors quote names and never values, so no secret comes here.
 * Owner: the caller's arena. Errors: none; a notice is not worth a failure. Units: ns. Threads: the scheduler's.
 * Source: pam_motd(8), which reads /run/motd.d from 1.3.1 on.
 * Tests: test_notice.c. */
#pragma once

#include "nodeup/run/report.h"

enum { NOTICE_LINES = 10 };

/* The label of an error's note about services that were started in spite of it. */
#define NOTICE_STARTED "started"

/* Words a status: its error and other causes, or the present wait. */
struct strv notice_lines(struct arena *a, const struct status *st);
/* Writes the lines to the machine's console. Does not wait for a console that takes no bytes now. */
void notice_console(int root_fd, const struct strv *lines);
/* Sets the lines that are shown at login, replacing the earlier ones. If there are no lines, removes the earlier
 * ones. */
void notice_motd(int root_fd, const struct strv *lines);
