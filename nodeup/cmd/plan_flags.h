/* plan_flags.h - which flags of a long line would change, one by one
 * A file of flags (DAEMON_ARGS= of a sysconfig, the command of a manifest) has a line of several. Two such lines
 * differ in a word or two that no person finds.
 * Invariant: the value of a flag that may hold a password is never in the result.
 * Owner: the arena. Errors: none. Threads: all functions.
 * Tests: test_plan_flags.c. */
#pragma once

#include "nodeup/base/buf.h"
#include "nodeup/base/str.h"

/* "- --v=2" for each flag that goes and "+ --v=4" for each that comes, in the order of their names. None when
 * neither text has a line of several flags, and when both have the same flags in another order. */
struct strv plan_flags(struct arena *a, const char *was, const char *want);
/* Append text, without the values that may hold a password. */
void plan_mask(struct buf *b, const char *text);
