/* record.h - a small text of our own that outlives the run
 * A record is there as a whole or not at all, root's, in a directory that is made for it. Paths of records
 * are in paths.h.
 * Owner: the buffers are the caller's. Errors: SYSTEM. Units: bytes. Threads: all functions.
 * Tests: test_lost_writes.py. */
#pragma once

#include "nodeup/base/io.h"

/* Write a record, durably. */
int record_write(int root_fd, const char *path, mode_t mode, const char *text,
		 struct err *e) must_check;

/* The same, but one that says this already is left alone, so that a second run changes nothing. */
int record_keep(int root_fd, const char *path, mode_t mode, const char *text,
		struct err *e) must_check;

/* Read a record of at most b->max bytes; false: there is none that can be read. */
bool record_read(int root_fd, const char *path, struct buf *b);
