/* journal.h - the journal: read a unit's last lines, write structured entries
 * Owner: the arena. Errors: SYSTEM; reading where there is no journal gives no lines and no error.
 * Threads: all functions. Source: sd-journal(3), sd_journal_sendv(3).
 * Tests: test_bus.py, test_collect_logs.py. */
#pragma once

#include "nodeup/base/log.h"
#include "nodeup/base/str.h"

/* Reads the last `max` messages of a unit since its current or last invocation, oldest first. If there are more,
 * prefers lines of the unit's processes to lines of systemd, but keeps at least systemd's last line. since_ns not 0:
 * drops older lines and does not wait for late lines; 0: reads all lines, and waits for late lines. */
int journal_tail(struct arena *a, const char *unit, size_t max, int64_t since_ns, struct strv *ret,
		 struct err *e) must_check;
/* A line of the journal, by systemd or by a process. */
struct journal_line {
	int64_t wall_ns;
	const char *message; /* "": it is longer than 64 KiB */
	bool of_manager;
};
typedef bool journal_line_fn(void *arg, const struct journal_line *line);
/* Calls fn for each line of a unit, and of programs with this name (NULL: of none), in the two newest boots that
 * have any, newest first, until fn returns false. -ENOENT, -EACCES: no journal, or none for this user. */
int journal_each(const char *unit, const char *program, journal_line_fn *fn, void *arg,
		 struct err *e) must_check;
/* Returns when a job stopped the unit, in ns since 1970, by systemd's own lines of this boot. 0: it ended by itself or
 * was started since, or there are no such lines. */
int64_t journal_stopped(const char *unit);
/* A log_writer_fn: writes MESSAGE, PRIORITY, SYSLOG_IDENTIFIER=nodeup, MESSAGE_ID and NODEUP_* fields. */
int journal_write(enum log_level level, const char *message, const struct log_field *fields,
		  size_t n);
/* Returns whether our stderr is connected to the journal (JOURNAL_STREAM names its device and inode). */
bool journal_is_stderr(void);
