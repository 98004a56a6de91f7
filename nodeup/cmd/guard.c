/* guard.c - looks whether the node is as its last run left it, and reports what is not
 * It walks the plan of the newest kept documents as `plan` does. It asks this machine alone: no server of documents or
 * assets, no metadata service, and the container runtime for no image. It changes nothing but its own record and the
 * metrics. */
#include "nodeup/cmd/session.h"

#include <unistd.h>
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/show.h"
#include "nodeup/base/wait.h"
#include "nodeup/cmd/plan.h"
#include "nodeup/documents/location.h"
#include "nodeup/documents/store.h"
#include "nodeup/run/drift.h"
#include "nodeup/run/lock.h"
#include "nodeup/run/metrics.h"
#include "nodeup/tasks/kinds.h"
#include "units/journal.h"

/* what differs only for so long is not reported: a service may be starting again, or a file be replaced */
#define AGAIN_NS (5 * DUR_SEC)

enum { LINES_MAX = 20 };

static bool is_drift(const struct run_outcome *o)
{
	return o->state == RUN_CHANGED || o->state == RUN_FAILED;
}

static bool has_drift(const struct run_report *rep)
{
	return rep->counts[RUN_CHANGED] + rep->counts[RUN_FAILED] > 0;
}

/* Looks a second time if anything differs. What differed only once counts as right. */
static void look_twice(struct session *s, struct run_report *ret)
{
	struct run_report first;

	session_look(s, false, &first);
	*ret = first;
	if (!has_drift(&first))
		return;
	wait_until(dur_now() + AGAIN_NS);
	session_look(s, false, ret);
	for (size_t i = 0; i < ret->n; i++)
		if (!is_drift(&first.outcomes[i]))
			ret->outcomes[i].state = RUN_EQUAL;
}

/* Returns when somebody stopped the task's unit; 0: it runs, failed or ended by itself, or cannot be started again. */
static int64_t stopped_at(struct session *s, const struct task *t)
{
	struct bus_unit u;
	struct err ignored;

	return t->ops == &task_unit_ops && s->ctx.bus &&
			       bus_get(s->ctx.bus, s->arena, t->name, &u, &ignored) == 0 &&
			       str_eq(u.active_state, "inactive") &&
			       !str_eq(u.load_state, "masked") &&
			       (str_is_empty(u.result) || str_eq(u.result, "success"))
		       ? journal_stopped(t->name)
		       : 0;
}

/* Reports a unit that somebody stopped, unless the last look did. */
static void tell_stop(struct session *s, const struct task *t, int64_t at_ns,
		      const struct drift *last, struct drift *now)
{
	const char *stop = arena_printf(s->arena, "%s %lld", t->name, (long long)at_ns);

	strv_add(s->arena, &now->stopped, stop);
	if (!strv_has(&last->stopped, stop))
		log_notice("%s was stopped by request, %s ago: it is left so, and does not count",
			   task_title(s->arena, t), dur_human(s->arena, dur_wall() - at_ns));
}

static void tell_drift(struct session *s, const struct run_outcome *o)
{
	const char *title = task_title(s->arena, o->task);
	const struct log_field fields[] = {
		{ "TASK", title },
		{ "STATE", "drift" },
		{ "ORIGIN", o->task->origin },
	};

	log_line(LOG_WARNING, fields, ARRAY_LEN(fields), "%s %s", title,
		 cmd_plan_found(s->arena, o));
}

static void report(struct session *s, const struct run_report *rep, const struct drift *last,
		   struct drift *now)
{
	const struct strv documents = bootstrap_damages(s->arena, &s->boot, s->root_fd);

	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];
		const int64_t at_ns = is_drift(o) ? stopped_at(s, o->task) : 0;

		if (at_ns)
			tell_stop(s, o->task, at_ns, last, now);
		else if (is_drift(o) && now->n++ < LINES_MAX)
			tell_drift(s, o);
	}
	if (now->n > LINES_MAX)
		log_warning("and %zu more; nodeup plan lists them", now->n - LINES_MAX);
	for (size_t i = 0; i < documents.n; i++)
		log_warning("document %s", documents.v[i]);
	now->n += documents.n;
	if (now->n)
		log_notice("nodeup repair puts it right");
}

/* Compares this machine with the plan of a session, and keeps the result. Returns why nothing came of it; NULL: it
 * has a result. */
static const char *compare(struct session *s, struct drift *now, struct err *e)
{
	struct run_report rep;
	struct drift last;
	const char *why;

	look_twice(s, &rep);
	/* a run may have begun meanwhile */
	why = drift_hindrance(s->arena, s->root_fd);
	if (why)
		return why;
	log_set_level(LOG_INFO);
	drift_last(s->arena, s->root_fd, &last);
	*now = (struct drift){ .at_ns = dur_wall() };
	report(s, &rep, &last, now);
	if (drift_keep(s->root_fd, now, e) < 0)
		log_warning("this look was not noted: %s", e->msg);
	show_line(stdout, "%zu tasks, %zu to change", rep.n, now->n);
	return NULL;
}

static int look(struct cli *cli, int64_t number, struct err *e)
{
	const struct session_req req = { .cli = cli, .mode = MODE_GUARD };
	struct session s = { 0 };
	struct drift now = { 0 };
	const char *why;
	int r;

	cli->offline = cli->no_metadata = true;
	cli->conf = arena_printf(cli->arena, LOCATION_KEPT "%lld", (long long)number);
	/* the run has warned of its documents */
	log_set_level(LOG_ERROR);
	r = session_open(&s, &req, e);
	why = r < 0 ? NULL : compare(&s, &now, e);
	log_set_level(LOG_INFO);
	if (why)
		show_line(stdout, "nothing is reported: %s", why);
	session_close(&s);
	return r < 0 ? r : now.n ? PLAN_PENDING : 0;
}

static int hold(struct cli *cli, int root_fd, struct err *e)
{
	const int64_t until = dur_wall() + cli->hold_ns;
	const int r = drift_hold(root_fd, until, e);

	if (r == 0)
		show_line(stdout, "nothing is reported until %s UTC", dur_date(cli->arena, until));
	return r;
}

static int guard(struct cli *cli, int root_fd, struct err *e)
{
	const int64_t number = kept_last(root_fd);
	const char *why;

	if (cli->hold_ns)
		return hold(cli, root_fd, e);
	why = drift_hindrance(cli->arena, root_fd);
	if (!why && !number)
		why = "no run that ended well has kept its documents here";
	if (!why)
		return look(cli, number, e);
	show_line(stdout, "nothing is looked at: %s", why);
	return 0;
}

int cmd_guard(struct cli *cli, struct err *e)
{
	autoclose int root = -1;
	struct err ignored;
	int r;

	if (geteuid() != 0)
		return err_fail(e, ERR_USAGE, EPERM, "must be root to read what runs kept");
	if (journal_is_stderr())
		log_set_writer(journal_write);
	r = io_open_root("/", &root, e);
	if (r < 0)
		return r;
	r = guard(cli, root, e);
	/* a run that is at work writes them at its end */
	if (lock_look(root, &ignored) == 0)
		metrics_write(root);
	return r;
}
