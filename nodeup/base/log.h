/* log.h - the one sink for lines to people
 * Commands, the run and the report log; libraries return errors instead. Lines go to stderr as "time level message";
 * if stderr is a journal, time and level are left out. If a journal writer is set, lines go there instead, as
 * fields.
 * Owner: the sink is the only mutable global. Errors: none; a sink that fails is ignored. Threads: all functions
 * (one write(2) a line). Source: ECMA-48 for the footer.
 * Tests: test_log.c. */
#pragma once

#include <stdbool.h>
#include "nodeup/base/err.h"

enum log_level { LOG_ERROR, LOG_WARNING, LOG_NOTICE, LOG_INFO, LOG_DEBUG };

/* A field with this name goes to the journal too. The journal uses it to find an explanation in its catalog. */
#define LOG_MESSAGE_ID "MESSAGE_ID"

struct log_field {
	const char *key, *value; /* "TASK", "kubelet"; journal field NODEUP_TASK */
};

/* Writes one structured entry. < 0: the entry could not be written, and stderr gets the line instead. */
typedef int log_writer_fn(enum log_level level, const char *message, const struct log_field *fields,
			  size_t n);

/* Sets the highest level that is printed; 8 and more in glog's --v is LOG_DEBUG. */
void log_set_level(enum log_level level);
/* Sends lines to the journal instead of stderr. NULL: to stderr again. */
void log_set_writer(log_writer_fn *writer);
/* Keeps this text ("" or NULL: none) below the last line of stderr's terminal, until it is replaced. Lines end in a
 * newline and may have colours; the caller cuts them to the terminal's width. */
void log_set_footer(const char *text);
/* Logs one line; fields may be NULL. */
void log_line(enum log_level level, const struct log_field *fields, size_t n, const char *fmt, ...)
	printf_like(4, 5);

#define log_error(...) log_line(LOG_ERROR, NULL, 0, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, NULL, 0, __VA_ARGS__)
#define log_notice(...) log_line(LOG_NOTICE, NULL, 0, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, NULL, 0, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, NULL, 0, __VA_ARGS__)
