/* tar.h - reads a tar archive in a confined process
 * Makes no files. Members go to descriptors (take.h), or all files into one (report.h).
 * Owner: the caller's fds and report. Errors: INTEGRITY with the entry's name and the reason, SYSTEM. Threads: one.
 * Source: libarchive.
 * Tests: test_extract.c, test_bombs.c. */
#pragma once

#include "assets/unpack/extract.h"
#include "assets/unpack/report.h"

/* Reads the archive from in_fd to its end. `name` is for messages. */
int extract_stream(int in_fd, const char *name, const struct extract_limits *limits,
		   struct extract_report *report, struct err *e) must_check;
