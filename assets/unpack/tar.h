/* tar.h - take a tar archive apart, in a process that is confined
 * Files and directories are made below dir_fd without mode, time or owner, a symbolic link as an empty
 * placeholder; the report says what each is to become.
 * Of a file that is not wanted the bytes are read and dropped, and it is told of as one to be removed.
 * Without a directory nothing is made: the report tells what the archive holds.
 * Owner: the caller's fds and report. Errors: INTEGRITY with the entry's name and the reason, SYSTEM.
 * Threads: one. Source: libarchive. */
#pragma once

#include "assets/unpack/extract.h"
#include "assets/unpack/report.h"

/* Read the archive from in_fd to its end. `name` is for messages; dir_fd -1: tell only. */
int extract_stream(int in_fd, const char *name, int dir_fd, const struct extract_limits *limits,
		   struct extract_report *report, struct err *e) must_check;
