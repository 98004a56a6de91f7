/* watch.h - a child that is waited for as long as it does anything
 * A stopped child, and one whose disk stands still, would be waited for without an end. So a
 * sample is taken once a second: whether it used processor time, or took a byte, since the last one. After a
 * minute without either the caller is told. Samples are counted, not time: a child is not blamed for a machine
 * that slept, or that ran no process at all for a while.
 * Owner: the caller ends each by extract_watch_reap or extract_watch_kill. Errors: none of its own.
 * Units: samples, milliseconds. Threads: one user for each. Source: proc_pid_stat(5), poll(2).
 * Tests: test_extract_watch.c. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include "nodeup/base/proc.h"

enum { EXTRACT_SAMPLES = 60, EXTRACT_SAMPLE_MS = 1000 };

struct extract_watch {
	struct ending_child child; /* pid 0: there is none to wait for */
	int life_fd;               /* hangs up when the child ends; owned */
	int sample_ms;             /* from one sample to the next */
	unsigned int idle;         /* samples in a row that saw nothing done */
	uint64_t work;             /* processor time at the last sample, in ticks */
	char state;                /* as ps shows it, at the last sample; '?' unknown */
};

/* Make the fd that the child is to inherit, *ret_child, close-on-exec here; w->life_fd is its other end.
 * < 0 with errno. */
int extract_watch_make(struct extract_watch *w, int *ret_child);
/* From that moment of the monotonic clock on no child of this process is waited for, whatever it does; 0: for ever. */
void extract_watch_until(int64_t due_ns);
/* Returns whether that moment is past. */
bool extract_watch_is_late(void);
/* Wait until fd (non-blocking) can be written or its reader is gone: true. False: the child stands still. */
bool extract_watch_write(struct extract_watch *w, int fd);
/* The same until the descriptor can be read. */
bool extract_watch_read(struct extract_watch *w, int fd);
/* Wait until it ends and reap it: true. False: it stands still. */
bool extract_watch_reap(struct extract_watch *w, int *ret_status);
/* Kill and reap it; one that cannot die, as its disk does not answer, is left to die alone. */
void extract_watch_kill(struct extract_watch *w);
