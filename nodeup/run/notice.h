/* notice.h - what people are told of a node without having asked: on the console, and when they log in
 * A node that did not join has no other voice: its console can be read from outside.
 * Invariant: at most NOTICE_LINES lines. Each names what failed or is waited for, of what, and what to type next.
 * Errors quote names and never values, so that no secret comes here.
 * Owner: the caller's arena. Errors: none; a notice is not worth a failure. Units: ns. Threads: the scheduler's.
 * Source: pam_motd(8), which reads /run/motd.d from 1.3.1 on.
 * Tests: test_notice.c. */
#pragma once

#include "nodeup/run/report.h"

enum { NOTICE_LINES = 10 };

/* The label of an error's note on what was started all the same. */
#define NOTICE_STARTED "started"

/* Returns what a status says: its error and the causes beside it, or what it waits for. */
struct strv notice_lines(struct arena *a, const struct status *st);
/* Write them on the console of the machine. One that takes no bytes now is not waited for. */
void notice_console(int root_fd, const struct strv *lines);
/* Whoever logs in reads them, in the place of those before. None: nothing is read any more. */
void notice_motd(int root_fd, const struct strv *lines);
