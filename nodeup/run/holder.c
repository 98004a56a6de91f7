#include "nodeup/run/holder.h"

#include <stdio.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/run/health.h"

enum { UNIT_MAX = 256 };

/* Returns what a run wrote last; NULL: nothing. */
static const struct tree *read_status(struct arena *a, int root_fd)
{
	struct health told;
	struct err ignored;

	return health_read(a, root_fd, &told, &ignored) < 0 ? NULL : told.status;
}

static bool is_of(struct arena *a, const struct tree *status, int pid)
{
	return str_eq(tree_says(status, "pid"), arena_printf(a, "%d", pid));
}

static void note_wait(struct arena *a, const struct tree *status, struct err *e)
{
	const int64_t since = health_moment(status, "waitingSinceUnixMs"),
		      next = health_moment(status, "nextTryUnixMs");
	const char *waiting = tree_says(status, "waiting"),
		   *last = tree_says(tree_get(status, "error"), "message");

	if (*waiting)
		err_note(e, "waits", "%s", waiting);
	if (since >= 0)
		err_note(e, "since", "%s, for %s", dur_clock(a, since),
			 dur_human(a, dur_wall() - since));
	if (next >= 0)
		err_note(e, "until", "%s, its next try", dur_clock(a, next));
	if (*last && !str_eq(last, waiting))
		err_note(e, "error", "%s", last);
}

void holder_describe(int root_fd, const char *holder, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	char unit[UNIT_MAX] = "none";
	const struct tree *status;
	int pid;

	if (sscanf(holder, "pid %d, unit %255[^,]", &pid, unit) < 1)
		return;
	status = read_status(a, root_fd);
	if (status && is_of(a, status, pid))
		note_wait(a, status, e);
	if (str_eq(unit, "none"))
		err_note(e, "do", "wait until it ends, or end it: kill %d; what it did stays", pid);
	else
		err_note(e, "do",
			 "wait until it ends, or end it: systemctl stop %s; what it did stays",
			 unit);
}

bool holder_succeeded(int root_fd)
{
	autoarena struct arena *a = arena_new_empty();
	const struct tree *status = read_status(a, root_fd);
	const char *state = tree_says(status, "state");

	return (str_eq(state, "ready") || str_eq(state, "degraded")) &&
	       !is_of(a, status, (int)getpid());
}
