/* times.h - where the time of a run went: what its record keeps of it
 * A row a task, with the task that it waited for last, so that the critical path can be found later. Tasks that
 * changed nothing and took no time have no row.
 * Invariant: at most TIMES_ROW bytes a row, on average, and TIMES_MAX rows; the record has the number of the others.
 * Owner: the arena. Errors: none: what nobody knows is left out. Units: ms; moments are of CLOCK_MONOTONIC.
 * Threads: the scheduler's. Source: org.freedesktop.systemd1(5).
 * Tests: test_times.c. */
#pragma once

#include "nodeup/base/tree.h"
#include "nodeup/run/run.h"

enum { TIMES_ROW = 128, TIMES_MAX = 2048 };

/* The places of a row's values: title, lane, start and end (from beganMs on), how long it waited for something
 * outside, the row after which it could begin (-1: none), its state, and the reason of a long wait or failed try. */
enum {
	TIMES_TASK,
	TIMES_LANE,
	TIMES_START,
	TIMES_END,
	TIMES_WAITED,
	TIMES_AFTER,
	TIMES_STATE,
	TIMES_WHY,
	TIMES_COLUMNS
};

/* Returns the part of a record: beganMs, endedMs, times, timesLeftOut. fetcher: the run's; NULL: none. */
struct tree *times_tree(struct arena *a, const struct run_report *rep, struct fetcher *fetcher);
/* Adds to it what systemd's manager knows of this boot: bootMs, inContainer. */
void times_add_boot(struct arena *a, int root_fd, struct bus *bus, struct tree *record);
