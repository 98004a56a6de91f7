#include "nodeup/base/err.h"

#include <string.h>
#include "nodeup/base/print.h"

/* One row for each kind: main()'s exit status, its meaning, and whether another try may help. */
static const struct {
	const char *name;
	int exit_status;
	int transient;
	const char *meaning;
} kinds[ERR_KIND_MAX] = {
	[ERR_NONE] = { "NONE", 0, 0, "done" },
	[ERR_USAGE] = { "USAGE", 64, 0, "usage: the command line, or not root" },
	[ERR_CONFIG] = { "CONFIG", 78, 0,
			 "configuration: a document, or what --offline does not find" },
	[ERR_REFUSED] = { "REFUSED", 73, 0, "refused: there is data on a disk" },
	[ERR_NET] = { "NET", 69, 1, "network; a later try may succeed" },
	[ERR_BUSY] = { "BUSY", 75, 1, "timed out, or another nodeup is at work; try again" },
	[ERR_SYSTEM] = { "SYSTEM", 71, 1, "a system call, a tool, or a service" },
	[ERR_INTEGRITY] = { "INTEGRITY", 65, 0, "integrity: wrong hash or signature" },
};

static int fill(struct err *e, enum err_kind kind, int errnum, const char *fmt, va_list ap)
{
	e->kind = kind;
	e->errnum = errnum;
	e->lasts = false;
	e->nnotes = 0;
	e->cause[0] = '\0';
	e->room = (struct err_room){ 0 };
	(void)print_va(e->msg, sizeof(e->msg), fmt, ap);
	return errnum > 0 ? -errnum : -EINVAL;
}

int err_fail(struct err *e, enum err_kind kind, int errnum, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = fill(e, kind, errnum, fmt, ap);
	va_end(ap);
	return r;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	const int saved = errno;
	const char *cause = strerror(saved);
	const size_t room = sizeof(e->msg) - strlen(cause) - 3;
	size_t len;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = fill(e, ERR_SYSTEM, saved, fmt, ap);
	va_end(ap);
	/* cuts a long message, so that the cause fits */
	len = strnlen(e->msg, room);
	(void)print_to(e->msg + len, sizeof(e->msg) - len, ": %s", cause);
	return r;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char context[ERR_MSG_MAX];
	size_t cause = strlen(e->msg);
	size_t room, len;
	va_list ap;

	va_start(ap, fmt);
	(void)print_va(context, sizeof(context), fmt, ap);
	va_end(ap);

	len = strlen(context);
	/* room beside the cause, ": " and the final NUL */
	room = cause + 3 < sizeof(e->msg) ? sizeof(e->msg) - cause - 3 : 0;
	if (len > room)
		len = room;
	if (len > 0) {
		memmove(e->msg + len + 2, e->msg, cause + 1);
		memcpy(e->msg, context, len);
		memcpy(e->msg + len, ": ", 2);
	}
	return err_code(e);
}

void err_add(struct err *e, const char *fmt, ...)
{
	size_t len = strlen(e->msg);
	va_list ap;

	(void)print_to(e->msg + len, sizeof(e->msg) - len, ", ");
	len = strlen(e->msg);
	va_start(ap, fmt);
	(void)print_va(e->msg + len, sizeof(e->msg) - len, fmt, ap);
	va_end(ap);
}

void err_note(struct err *e, const char *label, const char *fmt, ...)
{
	struct err_note *note;
	va_list ap;

	if (e->nnotes >= ERR_NOTES)
		return;
	note = &e->notes[e->nnotes++];
	(void)print_to(note->label, sizeof(note->label), "%s", label);
	va_start(ap, fmt);
	print_words(note->text, sizeof(note->text), fmt, ap);
	va_end(ap);
}

const char *err_todo(const struct err *e)
{
	for (size_t i = 0; i < e->nnotes; i++)
		if (strcmp(e->notes[i].label, "do") == 0)
			return e->notes[i].text;
	return NULL;
}

void err_cause(struct err *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)print_va(e->cause, sizeof(e->cause), fmt, ap);
	va_end(ap);
}

int err_code(const struct err *e)
{
	return e->errnum > 0 ? -e->errnum : -EINVAL;
}

int err_exit_status(const struct err *e)
{
	return kinds[e->kind].exit_status;
}

const char *err_kind_name(enum err_kind kind)
{
	return kinds[kind].name;
}

const char *err_kind_meaning(enum err_kind kind)
{
	return kinds[kind].meaning;
}

bool err_stays(const struct err *e)
{
	return e->lasts || e->kind == ERR_USAGE || e->kind == ERR_REFUSED || e->kind == ERR_CONFIG;
}

int err_is_transient(const struct err *e)
{
	return kinds[e->kind].transient;
}
