/* records.h - sets aside records of ours that a full disk or a power cut has damaged
 * A record can be made anew, so a damaged one stops no run. The damaged record is kept for a person to look at, see
 * aside.h. boot.c has the boot unit's record.
 * Owner: none. Errors: none: a record that cannot be set aside is reported. Threads: one.
 * Tests: test_kept.py, test_special_files.py. */
#pragma once

#include <stdbool.h>

/* Names damaged records. A run sets damaged records aside, so later readers find none. */
void records_look(int root_fd, bool may_change);
