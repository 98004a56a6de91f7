/* confine.h - give up, for good, all that unpacking an archive does not need
 * In this order, each by itself enough against most of what broken archive code could be made to do:
 * a root directory that is dir_fd, another user than root, no capability in any set, no new ones by
 * exec, no new process; then Landlock (nothing but making and writing files below dir_fd) and a list of
 * the only system calls that work; all others fail with EPERM.
 * A process that needs no directory gives -1: it can open and make nothing at all. What it has open it may write to and cut.
 * Landlock is used from its second version on, Linux 5.19: the first cannot allow a hard link into
 * another directory, which archives have, and a wall with a door for every caller is not a wall.
 * Owner: the caller's fd. Errors: SYSTEM; a caller that gets one must not go on. Threads: the process must
 * have one. Source: capabilities(7), landlock(7), seccomp(2). */
#pragma once

#include <stdint.h>
#include "nodeup/base/err.h"

/* The uid of a confined process that root started (nobody's); its starter gives it the directory. */
enum { CONFINE_UID = 65534 };

/* All of it. No file may become larger than file_max. dir_fd -1: none. */
int confine(int dir_fd, uint64_t file_max, struct err *e) must_check;

/* Its three steps. */
int confine_privileges(int dir_fd, uint64_t file_max, struct err *e) must_check;
int confine_files(int dir_fd, struct err *e) must_check;
int confine_calls(int dir_fd, struct err *e) must_check;
