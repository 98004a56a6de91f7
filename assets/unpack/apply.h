/* apply.h - complete the tree that a confined child made, by its report
 * Links take the place of their placeholders, modes and times are set, owners become ours. Nothing is
 * believed: names and targets are checked as if they came out of the archive here, and no link is
 * followed.
 * Owner: the caller's fd. Errors: INTEGRITY, SYSTEM. Threads: all functions. */
#pragma once

#include "assets/unpack/report.h"
#include "nodeup/base/err.h"

/* `name` is the archive's, for messages; at most `entries` are taken. */
int extract_apply(struct extract_report *report, int dir_fd, const char *name, uint64_t entries,
		  struct err *e) must_check;
