/* notify.h - tells the service manager how the run goes
 * Does nothing when NOTIFY_SOCKET is unset.
 * Owner: none. Errors: ignored on purpose: progress is not worth a failure. Threads: all functions.
 * Source: sd_notify(3).
 * Tests: test_interrupt.py. */
#pragma once

#include "nodeup/base/err.h"

/* Sends STATUS=, unless the text is the same as before. */
void notify_status(const char *fmt, ...) printf_like(1, 2);
/* Sends READY=1. systemd then starts the units that wait for ours. systemd ignores a second READY=1. */
void notify_ready(void);
