/* confine.h - gives up, for good, every right that unpacking an archive does not need
 * In this order: a root directory where nothing can be made; another user than root; no capability in any set; no
 * capability gained by exec; no new process. After these steps come Landlock from Linux 5.13 on (no file at all),
 * and a list of allowed system calls; all other calls fail with EPERM. Each step alone stops most attacks that take
 * over the archive code. The process may still write, cut and sync its open files.
 * Owner: none. Errors: SYSTEM; the caller must not go on then. Threads: the process must have one.
 * Source: capabilities(7), landlock(7), seccomp(2).
 * Tests: test_confine.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/err.h"

/* Base of the uid and gid of a confined process that root started; its pid is added. No user, service or container
 * has a number of this range. In a user namespace without this range, the process is nobody (65534). source: systemd
 * docs/UIDS-GIDS.md: 1879048192 to 2147483647 are unused */
enum { CONFINE_UIDS = 1879048192 };

/* Takes the three steps: privileges, files, system calls. No file may become larger than file_max. */
int confine(uint64_t file_max, struct err *e) must_check;

/* The three steps. */
int confine_privileges(uint64_t file_max, struct err *e) must_check;
int confine_files(struct err *e) must_check;
int confine_calls(struct err *e) must_check;
