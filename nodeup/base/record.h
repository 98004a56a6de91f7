/* record.h - a small text of our own that outlives the run
 * A record exists as a whole or not at all. Its owner is root, and its directory is made if needed; paths.h has its
 * path.
 * Owner: the buffers are the caller's. Errors: SYSTEM. Units: bytes. Threads: all functions.
 * Tests: test_lost_writes.py. */
#pragma once

#include "nodeup/base/io.h"

/* Writes a record, durably. */
int record_write(int root_fd, const char *path, mode_t mode, const char *text,
		 struct err *e) must_check;

/* Writes a record durably, unless it has this text already. So a second run changes nothing. */
int record_keep(int root_fd, const char *path, mode_t mode, const char *text,
		struct err *e) must_check;

/* Reads a record of at most b->max bytes. False: there is no record, or it cannot be read. */
bool record_read(int root_fd, const char *path, struct buf *b);
