/* watch.h - waits for a child as long as it works
 * A stopped child, or a child whose disk hangs, would never end the wait. So a sample is taken each second: did the
 * child use processor time, or take a byte? After a minute without either, the caller is told. The samples are
 * counted, not the time: a child is not blamed if the machine slept or was too busy.
 * Owner: the caller ends each by extract_watch_reap or extract_watch_kill. Errors: none of its own. Units: samples,
 * milliseconds. Threads: one user for each.
 * Source: proc_pid_stat(5), poll(2).
 * Tests: test_extract_watch.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/proc.h"

enum { EXTRACT_SAMPLES = 60, EXTRACT_SAMPLE_MS = 1000 };

struct extract_watch {
	struct ending_child child; /* pid 0: no child */
	int life_fd;               /* this descriptor hangs up when the child ends; owned */
	int sample_ms;             /* milliseconds from one sample to the next */
	unsigned int idle;         /* samples in a row without work */
	uint64_t work;             /* processor time at the last sample, in ticks */
	char state; /* the child's state as ps shows it, at the last sample; '?' unknown */
};

/* Makes a descriptor for the child to inherit, *ret_child (close-on-exec here). The other end of the descriptor's
 * pipe is w->life_fd. Returns < 0 with errno on failure. */
int extract_watch_make(struct extract_watch *w, int *ret_child);
/* Sets a monotonic time after which no child of this process is waited for; 0: none. */
void extract_watch_until(int64_t due_ns);
/* Returns whether the time of extract_watch_until is over. */
bool extract_watch_is_late(void);
/* Returns true once fd (non-blocking) can be written or its reader has gone; false if the child does not work. */
bool extract_watch_write(struct extract_watch *w, int fd);
/* Returns true once the descriptor can be read; false if the child does not work. */
bool extract_watch_read(struct extract_watch *w, int fd);
/* Waits for the child's end and reaps it. Returns false if the child does not work and does not end. */
bool extract_watch_reap(struct extract_watch *w, int *ret_status);
/* Kills and reaps the child. A child that cannot die, because its disk hangs, is left alone. */
void extract_watch_kill(struct extract_watch *w);
