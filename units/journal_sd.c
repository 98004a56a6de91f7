#include "units/journal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* NODEUP_* fields name the caller; a line number of this file would say nothing. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>
#include "nodeup/base/show.h"

#define autojournal __attribute__((cleanup(journal_closep)))

enum {
	/* Reads no more than this of a message, for instance of a stack trace in one entry. */
	MESSAGE_MAX = 2048,
	LINE_MAX_EACH = 64 * 1024,
	SYNC_TIMEOUT_S = 1,
	ID_TEXT = 33,
	FIELD_TEXT = 64,
	/* Reads no more than this many entries, so that a silent unit is not followed to the beginning of the boot. */
	LOOK_MAX = 256,
};

static void journal_closep(sd_journal **j)
{
	sd_journal_close(*j);
}

/* Copies a field's value ("" if absent or unreadable), cut to size-1 bytes. */
static void field_get(sd_journal *j, const char *name, char *ret, size_t size)
{
	size_t skip = strlen(name) + 1, n;
	const void *data;

	ret[0] = '\0';
	if (sd_journal_get_data(j, name, &data, &n) < 0 || n < skip)
		return;
	n -= skip;
	if (n >= size)
		n = size - 1;
	memcpy(ret, (const char *)data + skip, n);
	ret[n] = '\0';
}

static int match(sd_journal *j, const char *key, const char *value)
{
	autofree char *text = xasprintf("%s=%s", key, value);

	return sd_journal_add_match(j, text, 0);
}

/* Selects lines of PID 1 about the unit. */
static int match_manager(sd_journal *j, const char *unit)
{
	const int r = match(j, "_PID", "1");

	return r < 0 ? r : match(j, "UNIT", unit);
}

/* Selects these lines, and those of the unit's processes. */
static int match_unit(sd_journal *j, const char *unit)
{
	int r = match(j, "_SYSTEMD_UNIT", unit);

	if (r >= 0)
		r = sd_journal_add_disjunction(j);
	return r < 0 ? r : match_manager(j, unit);
}

/* Selects of the lines selected so far those of this boot. */
static int match_boot(sd_journal *j)
{
	char boot[ID_TEXT];
	sd_id128_t id;
	int r = sd_id128_get_boot(&id);

	if (r >= 0)
		r = sd_journal_add_conjunction(j);
	return r < 0 ? r : match(j, "_BOOT_ID", sd_id128_to_string(id, boot));
}

/* Returns whether the entry belongs to the invocation of the lines so far. In a crash loop the last invocation may
 * have logged nothing yet; then the invocation before it explains more. */
static bool is_wanted(sd_journal *j, char invocation[static ID_TEXT], bool *spoke)
{
	char pid[ID_TEXT], id[ID_TEXT];
	bool manager;

	field_get(j, "_PID", pid, sizeof(pid));
	manager = str_eq(pid, "1");
	field_get(j, manager ? "INVOCATION_ID" : "_SYSTEMD_INVOCATION_ID", id, sizeof(id));
	/* systemd before 233 has no invocation ids: takes the last lines of any invocation. */
	if (!str_is_empty(id) && !str_eq(id, invocation)) {
		if (*spoke)
			return false;
		memcpy(invocation, id, ID_TEXT);
	}
	*spoke |= !manager;
	return true;
}

static bool is_older(sd_journal *j, int64_t since_ns)
{
	uint64_t us;

	return since_ns &&
	       (sd_journal_get_realtime_usec(j, &us) < 0 || us < (uint64_t)since_ns / 1000);
}

/* A unit's lines, newest first, each with a mark if systemd wrote it. */
struct lines {
	struct strv all;
	bool manager[LOOK_MAX];
	size_t n_manager;
};

/* Keeps only a few of systemd's lines. For each refused start systemd writes three lines, and a unit is often
 * started again. So systemd's lines would leave no room for the program's own lines, which explain more. */
static struct strv choose(struct arena *a, const struct lines *l, size_t max)
{
	const size_t spoken = l->all.n - l->n_manager;
	size_t of_manager = spoken < max ? max - spoken : (size_t)(max > 1);
	struct strv newest_first = { 0 }, ret = { 0 };

	for (size_t i = 0; i < l->all.n && newest_first.n < max; i++) {
		if (l->manager[i] && of_manager == 0)
			continue;
		of_manager -= l->manager[i];
		strv_add(a, &newest_first, l->all.v[i]);
	}
	while (newest_first.n)
		strv_add(a, &ret, newest_first.v[--newest_first.n]);
	return ret;
}

static int tail(sd_journal *j, struct arena *a, size_t max, int64_t since_ns, struct strv *ret)
{
	char invocation[ID_TEXT] = "", message[MESSAGE_MAX];
	struct lines l = { 0 };
	bool spoke = false;
	int r = sd_journal_seek_tail(j);

	while (r >= 0 && l.all.n - l.n_manager < max && l.all.n < LOOK_MAX &&
	       (r = sd_journal_previous(j)) > 0) {
		char pid[ID_TEXT];

		if (is_older(j, since_ns) || !is_wanted(j, invocation, &spoke))
			break;
		field_get(j, "MESSAGE", message, sizeof(message));
		if (str_is_empty(message))
			continue;
		field_get(j, "_PID", pid, sizeof(pid));
		l.manager[l.all.n] = str_eq(pid, "1");
		l.n_manager += l.manager[l.all.n];
		strv_add(a, &l.all, arena_str(a, message));
	}
	if (r < 0)
		return r;
	*ret = choose(a, &l, max);
	return 0;
}

/* Makes journald write out late entries: a unit's last lines are often still in journald's socket when PID 1 reports
 * the failure. Old versions of journald are not asked. The wait for an answer is short. */
static void journal_sync(void)
{
	static const char request[] =
		"{\"method\":\"io.systemd.Journal.Synchronize\",\"parameters\":{}}";
	static const struct sockaddr_un address = {
		.sun_family = AF_UNIX,
		.sun_path = "/run/systemd/journal/io.systemd.journal",
	};
	static const struct timeval timeout = { .tv_sec = SYNC_TIMEOUT_S };
	autoclose int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char reply[FIELD_TEXT];

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0 ||
	    connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return;
	/* The NUL ends a varlink message; the answer's content does not matter. */
	if (send(fd, request, sizeof(request), MSG_NOSIGNAL) < 0)
		return;
	(void)!recv(fd, reply, sizeof(reply), 0);
}

int journal_tail(struct arena *a, const char *unit, size_t max, int64_t since_ns, struct strv *ret,
		 struct err *e)
{
	autojournal sd_journal *j = NULL;
	int r;

	if (!since_ns)
		journal_sync();
	r = sd_journal_open(&j, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
	if (r == -ENOENT || r == -EACCES) {
		*ret = (struct strv){ 0 };
		return 0;
	}
	if (r >= 0)
		r = sd_journal_set_data_threshold(j, MESSAGE_MAX);
	if (r >= 0)
		r = match_unit(j, unit);
	if (r >= 0)
		r = match_boot(j);
	if (r >= 0)
		r = tail(j, a, max, since_ns, ret);
	if (r < 0)
		return err_fail(e, ERR_SYSTEM, -r, "journal of %s: %s", unit, strerror(-r));
	return 0;
}

/* Gives each line to fn, newest first, until a third boot begins. */
static int give_lines(sd_journal *j, journal_line_fn *fn, void *arg)
{
	autofree char *message = xcalloc(1, LINE_MAX_EACH);
	char boot[ID_TEXT] = "", now[ID_TEXT], pid[ID_TEXT];
	int boots = 0, r = sd_journal_seek_tail(j);

	while (r >= 0 && (r = sd_journal_previous(j)) > 0) {
		struct journal_line line = { .message = message };
		uint64_t us = 0;

		field_get(j, "_BOOT_ID", now, sizeof(now));
		boots += !str_eq(now, boot);
		memcpy(boot, now, sizeof(boot));
		if (boots > 2)
			return 0;
		field_get(j, "MESSAGE", message, LINE_MAX_EACH);
		/* the end of a longer line is unknown, so it may have the half of a secret */
		if (strlen(message) == LINE_MAX_EACH - 1)
			line.message = "";
		field_get(j, "_PID", pid, sizeof(pid));
		line.of_manager = str_eq(pid, "1");
		(void)sd_journal_get_realtime_usec(j, &us);
		line.wall_ns = (int64_t)us * 1000;
		if (!fn(arg, &line))
			return 0;
	}
	return r;
}

int journal_each(const char *unit, const char *program, journal_line_fn *fn, void *arg,
		 struct err *e)
{
	autojournal sd_journal *j = NULL;
	int r = sd_journal_open(&j, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);

	if (r >= 0)
		r = sd_journal_set_data_threshold(j, LINE_MAX_EACH + FIELD_TEXT);
	if (r >= 0)
		r = match_unit(j, unit);
	if (r >= 0 && program)
		r = sd_journal_add_disjunction(j);
	if (r >= 0 && program)
		r = match(j, "SYSLOG_IDENTIFIER", program);
	if (r >= 0)
		r = give_lines(j, fn, arg);
	return r < 0 ? err_fail(e, ERR_SYSTEM, -r, "journal of %s: %s", unit, strerror(-r)) : 0;
}

/* What systemd says of a change of a unit's state. Source: systemd's sd-messages.h. */
static const struct {
	const char *id;
	bool is_stop; /* a stop job has ended */
} changes[] = {
	{ "9d1aaa27d60140bd96365438aad20286", true },  /* stopped */
	{ "7d4958e842da4a758f6c1cdc7b36dcc5", false }, /* starting */
	{ "39f53479d3a045ac8e11786248231fbf", false }, /* started */
	{ "be02cf6855d2428ba40df7e9d022f03d", false }, /* its start failed */
	{ "7ad2d189f7e94e70a38c781354912448",
	  false }, /* ended well by itself; before a stop job has ended, too */
	{ "d9b373ed55a64feb8242e02dbe79a49c", false }, /* failed */
};

int64_t journal_stopped(const char *unit)
{
	autojournal sd_journal *j = NULL;
	char id[ID_TEXT];
	uint64_t us;

	if (sd_journal_open(&j, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM) < 0 ||
	    match_manager(j, unit) < 0 || match_boot(j) < 0 || sd_journal_seek_tail(j) < 0)
		return 0;
	for (int i = 0; i < LOOK_MAX && sd_journal_previous(j) > 0; i++) {
		field_get(j, LOG_MESSAGE_ID, id, sizeof(id));
		for (size_t k = 0; k < ARRAY_LEN(changes); k++)
			if (str_eq(changes[k].id, id))
				return changes[k].is_stop &&
						       sd_journal_get_realtime_usec(j, &us) >= 0
					       ? (int64_t)us * 1000
					       : 0;
	}
	return 0;
}

int journal_write(enum log_level level, const char *message, const struct log_field *fields,
		  size_t n)
{
	enum { FIXED = 3, PRIORITY_ERR = 3 };
	autoarena struct arena *a = NULL;
	struct iovec *iov;

	/* libsystemd reports success if journald is missing. */
	if (access("/run/systemd/journal/socket", W_OK) < 0)
		return -errno;
	a = arena_new_empty();
	iov = arena_alloc(a, (FIXED + n) * sizeof(*iov));
	iov[0].iov_base = arena_printf(a, "MESSAGE=%s", message);
	iov[1].iov_base = arena_printf(a, "PRIORITY=%d", PRIORITY_ERR + (int)level);
	iov[2].iov_base = arena_str(a, "SYSLOG_IDENTIFIER=nodeup");
	for (size_t i = 0; i < n; i++)
		iov[FIXED + i].iov_base = show_clean(arena_printf(
			a, "%s%s=%s", str_eq(fields[i].key, LOG_MESSAGE_ID) ? "" : "NODEUP_",
			fields[i].key, fields[i].value));
	for (size_t i = 0; i < FIXED + n; i++)
		iov[i].iov_len = strlen(iov[i].iov_base);
	return sd_journal_sendv(iov, (int)(FIXED + n));
}

bool journal_is_stderr(void)
{
	const char *text = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;
	char *end;

	if (!text || fstat(STDERR_FILENO, &st) < 0)
		return false;
	dev = strtoull(text, &end, 10);
	if (*end != ':')
		return false;
	ino = strtoull(end + 1, &end, 10);
	return *end == '\0' && dev == st.st_dev && ino == st.st_ino;
}
