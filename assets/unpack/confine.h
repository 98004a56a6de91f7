/* confine.h - give up, for good, all that taking an archive apart does not need
 * In this order, each by itself enough against most of what broken archive code could be made to do:
 * a root directory where nothing can be made, another user than root, no capability in any set, no new ones by
 * exec, no new process; then Landlock (no file at all) from Linux 5.13 on, and a list of
 * the only system calls that work; all others fail with EPERM. It may write to its open files, cut them, and have
 * them written to the disk.
 * Owner: none. Errors: SYSTEM; a caller that gets one must not go on. Threads: the process must
 * have one. Source: capabilities(7), landlock(7), seccomp(2).
 * Tests: test_confine.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/err.h"

/* A confined process that root started has a uid and a gid of its own: this and its pid, of a range that no user, service or
 * container is given. In a user namespace that lacks it, it is nobody (65534).
 * source: systemd docs/UIDS-GIDS.md: 1879048192 to 2147483647 are unused */
enum { CONFINE_UIDS = 1879048192 };

/* All of it. No file may become larger than file_max. */
int confine(uint64_t file_max, struct err *e) must_check;

/* Its three steps. */
int confine_privileges(uint64_t file_max, struct err *e) must_check;
int confine_files(struct err *e) must_check;
int confine_calls(struct err *e) must_check;
