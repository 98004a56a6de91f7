/* notify.h - tell the service manager how we are
 * Does nothing when NOTIFY_SOCKET is unset. Owner: none. Errors: ignored on purpose: progress is not
 * worth a failure. Threads: all functions. Source: sd_notify(3).
 * Tests: test_interrupt.py. */
#pragma once

#include "nodeup/base/err.h"

/* STATUS= line, at most one a change. */
void notify_status(const char *fmt, ...) printf_like(1, 2);
/* READY=1: what is ordered after us may begin. Once said, it is not heard again. */
void notify_ready(void);
