/* dur.h - durations as Go writes them ("1m30s"), and the clocks
 * Errors: CONFIG. Units: nanoseconds, int64_t. Source: Go time.ParseDuration, Duration.String.
 * Tests: test_dur.c. */
#pragma once

#include <stdint.h>
#include "nodeup/base/mem.h"

#define DUR_MS INT64_C(1000000)
#define DUR_SEC INT64_C(1000000000)

/* Parses "300ms", "-1.5h", "2h45m"; "0" is allowed. */
int dur_parse(const char *text, int64_t *ret_ns, struct err *e) must_check;
/* Renders like Go's Duration.String: "1m0s", "1.5s", "0s". */
char *dur_render(struct arena *a, int64_t ns);
/* Renders for people: "21 ms", "2.9 s", "4 min 12 s". */
char *dur_human(struct arena *a, int64_t ns);
/* Renders seconds since 1970, in UTC, by a format of strftime(3). At most 31 bytes. */
char *dur_utc(struct arena *a, int64_t seconds, const char *form);
/* Renders the time of day, UTC, of a CLOCK_REALTIME value: "03:12:40". */
char *dur_clock(struct arena *a, int64_t wall_ns);
/* Renders day and time, UTC: "2026-11-23 03:12:40". */
char *dur_date(struct arena *a, int64_t wall_ns);
/* Returns seconds since 1970 of HTTP's "Sun, 06 Nov 1994 08:49:37 GMT"; -1: it is no such date. */
int64_t dur_of_http_date(const char *text);
/* Return CLOCK_MONOTONIC and CLOCK_REALTIME. */
int64_t dur_now(void);
int64_t dur_wall(void);
