/* records.h - records of ours that do not parse, as a full disk or a power cut leaves them
 * A record can be made anew, so what is damaged keeps no run from its end. It is set aside, see aside.h, for a person to look at.
 * The boot unit's record is boot.c's.
 * Owner: none. Errors: none: what cannot be set aside is told. Threads: one.
 * Tests: test_kept.py, test_special_files.py. */
#pragma once

#include <stdbool.h>

/* Name the damaged ones. A run sets them aside, and what reads a record after it finds none. */
void records_look(int root_fd, bool may_change);
