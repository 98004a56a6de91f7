#include "nodeup/run/notice.h"

#include <fcntl.h>
#include <string.h>
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/base/show.h"
#include "nodeup/run/causes.h"
#include "nodeup/run/standing.h"

enum { TEXT_MAX = 64 << 10, MOTD_MODE = 0644 };

static const char console[] = "/dev/console";

static void add_line(struct arena *a, struct strv *lines, const char *word, const char *what,
		     const char *next)
{
	const char *text = arena_printf(a, "nodeup: %s %s; next: %s", word, what, next);

	strv_add(a, lines, show_clean((char *)arena_strn(a, text, strlen(text))));
}

static const char *note_of(const struct err *e, const char *label)
{
	for (size_t i = 0; i < e->nnotes; i++)
		if (str_eq(e->notes[i].label, label))
			return e->notes[i].text;
	return NULL;
}

/* Returns the error's own advice. */
static const char *advice(const struct err *e)
{
	const char *text = note_of(e, "do");

	return text ? text : "nodeup status";
}

struct strv notice_lines(struct arena *a, const struct status *st)
{
	const bool runs = str_eq(st->state, "running");
	const bool goes_on = str_eq(st->state, "degraded") || standing_is_good(st->node);
	const char *word = runs ? "WAITING" : goes_on ? "DEGRADED" : "FAILED";
	struct causes causes = { 0 };
	struct strv lines = { 0 };

	if (!st->error) {
		add_line(a, &lines, word,
			 st->waiting ? st->waiting : "the first run since the machine started",
			 "nodeup status");
		return lines;
	}
	add_line(a, &lines, word,
		 arena_printf(a, "%s (%d)", st->error->msg, err_exit_status(st->error)),
		 advice(st->error));
	if (note_of(st->error, NOTICE_STARTED))
		add_line(a, &lines, word,
			 arena_printf(a, "started %s", note_of(st->error, NOTICE_STARTED)),
			 "nodeup status");
	if (st->rep && st->rep->first_failed < st->rep->n)
		causes = causes_find(a, st->rep);
	/* the first is the run's own error */
	for (size_t i = 1; i < causes.n && lines.n < NOTICE_LINES - 1; i++) {
		const struct run_outcome *o = causes.v[i].first;

		add_line(a, &lines, word,
			 arena_printf(a, "%s: %s (%d)", task_title(a, o->task), o->error->msg,
				      err_exit_status(o->error)),
			 advice(o->error));
	}
	if (causes.n > lines.n)
		add_line(a, &lines, word, arena_printf(a, "of %zu more causes", causes.n - lines.n),
			 "nodeup status --long");
	return lines;
}

void notice_console(int root_fd, const struct strv *lines)
{
	autoarena struct arena *a = arena_new_empty();
	const char *text = arena_printf(a, "%s\n", strv_join(a, lines, "\n"));
	autoclose int fd = -1;
	struct err ignored;

	if (lines->n && io_open(root_fd, console, O_WRONLY | O_NOCTTY | O_NONBLOCK | O_APPEND, &fd,
				&ignored) >= 0)
		(void)!io_write_fd(fd, console, text, strlen(text), &ignored);
}

void notice_motd(int root_fd, const struct strv *lines)
{
	autoarena struct arena *a = arena_new_empty();
	struct err ignored;

	if (lines->n)
		(void)!record_keep(root_fd, OWN_MOTD, MOTD_MODE,
				   arena_printf(a, "%s\n", strv_join(a, lines, "\n")), &ignored);
	else
		(void)!io_remove(root_fd, OWN_MOTD, &ignored);
}
