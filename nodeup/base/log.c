#include "nodeup/base/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "nodeup/base/io.h"
#include "nodeup/base/print.h"
#include "nodeup/base/show.h"

enum { LINE_MAX_BYTES = 4096, OUTPUT_MAX = 256 << 10 };

static const struct {
	const char *name;
	int syslog; /* priority in sd-daemon(3)'s "<N>" prefix */
} levels[] = {
	[LOG_ERROR] = { "error", 3 },   [LOG_WARNING] = { "warning", 4 },
	[LOG_NOTICE] = { "notice", 5 }, [LOG_INFO] = { "info", 6 },
	[LOG_DEBUG] = { "debug", 7 },
};

static struct {
	atomic_int level;
	_Atomic(log_writer_fn *) writer;
	pthread_mutex_t lock; /* guards the footer and the order of writes */
	char *footer;         /* NULL: none */
} sink = { .level = LOG_INFO, .lock = PTHREAD_MUTEX_INITIALIZER };

void log_set_level(enum log_level level)
{
	atomic_store(&sink.level, (int)level);
}

void log_set_writer(log_writer_fn *writer)
{
	atomic_store(&sink.writer, writer);
}

/* Returns whether fd is the journal's socket. JOURNAL_STREAM names the socket that systemd gave us; stderr may have
 * been redirected since. */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;
	char *end;

	if (!stream || fstat(fd, &st) < 0)
		return false;
	dev = strtoull(stream, &end, 10);
	if (*end != ':')
		return false;
	ino = strtoull(end + 1, &end, 10);
	return *end == '\0' && dev == st.st_dev && ino == st.st_ino;
}

static size_t add_prefix(char *line, size_t size, enum log_level level)
{
	struct timespec now;
	struct tm tm;
	int n;

	if (is_journal(STDERR_FILENO)) {
		n = print_to(line, size, "<%d>", levels[level].syslog);
		return (size_t)n;
	}
	(void)clock_gettime(CLOCK_REALTIME, &now);
	(void)gmtime_r(&now.tv_sec, &tm);
	n = print_to(line, size, "%02d:%02d:%02d.%03ld %-7s ", tm.tm_hour, tm.tm_min, tm.tm_sec,
		     now.tv_nsec / 1000000, levels[level].name);
	return (size_t)n;
}

/* Erases the footer and everything below it, before the next text. The lock is held. If the terminal became
 * narrower, a line of the footer may take two rows. Then a part of the footer stays: otherwise logged lines could be
 * erased. */
static void add_erasure(struct buf *out)
{
	size_t rows = 0;

	for (const char *p = sink.footer; p && *p; p++)
		rows += *p == '\n';
	if (rows)
		(void)buf_addf(out, "\r\033[%zuA\033[J", rows);
}

/* Writes; a failure cannot be reported. The lock is held. Flushes stdout first: if both streams are one file, the
 * line must not land in the middle of stdout's buffered text. */
static void put(const struct buf *out)
{
	struct err ignored;

	(void)fflush(stdout);
	(void)!io_write_fd(STDERR_FILENO, "stderr", out->data, out->len, &ignored);
}

void log_set_footer(const char *text)
{
	autobuf struct buf out = BUF_INIT(OUTPUT_MAX);

	if (text && !*text)
		text = NULL;
	(void)pthread_mutex_lock(&sink.lock);
	if (!text && !sink.footer) {
		(void)pthread_mutex_unlock(&sink.lock);
		return;
	}
	add_erasure(&out);
	free(sink.footer);
	sink.footer = text ? xstrdup(text) : NULL;
	(void)buf_adds(&out, text ? text : "");
	put(&out);
	(void)pthread_mutex_unlock(&sink.lock);
}

static void write_line(const char *line)
{
	autobuf struct buf out = BUF_INIT(OUTPUT_MAX);

	(void)pthread_mutex_lock(&sink.lock);
	add_erasure(&out);
	(void)buf_adds(&out, line);
	(void)buf_adds(&out, sink.footer ? sink.footer : "");
	put(&out);
	(void)pthread_mutex_unlock(&sink.lock);
}

void log_line(enum log_level level, const struct log_field *fields, size_t n, const char *fmt, ...)
{
	log_writer_fn *writer = atomic_load(&sink.writer);
	char line[LINE_MAX_BYTES], *message;
	size_t prefix, len;
	va_list ap;

	if ((int)level > atomic_load(&sink.level))
		return;
	prefix = add_prefix(line, sizeof(line), level);
	message = line + prefix;
	va_start(ap, fmt);
	(void)print_va(message, sizeof(line) - prefix - 2, fmt, ap);
	va_end(ap);
	(void)show_clean(message);
	if (writer && writer(level, message, fields, n) >= 0)
		return;
	len = strlen(line);
	line[len++] = '\n';
	line[len] = '\0';
	write_line(line);
}
