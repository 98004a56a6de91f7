#include "nodeup/cmd/service.h"

#include <signal.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/show.h"
#include "nodeup/base/wait.h"
#include "nodeup/cmd/boot.h"
#include "nodeup/cmd/session.h"
#include "nodeup/run/standing.h"
#include "nodeup/run/health.h"
#include "nodeup/run/waiting.h"
#include "nodeup/tasks/state.h"

/* a run that ends within this time needs no line */
#define QUIET_NS (10 * DUR_SEC)

enum { POLL_MS = 1000 };

/* Returns the start job of this run; 0: our unit was already working. */
static uint32_t start_job(const struct run_report *rep)
{
	for (size_t i = 0; i < rep->n; i++)
		if (rep->outcomes[i].run.job)
			return rep->outcomes[i].run.job;
	return 0;
}

/* Returns whether our unit made the run, in the process that systemd names. If systemd names none, any process
 * counts. */
static bool is_of(const struct tree *run, const struct bus_unit *u)
{
	return standing_is_ours(run) &&
	       (!u->main_pid || health_number(run, "pid", 0) == (int64_t)u->main_pid);
}

/* Judges the first run, which has ended. Our own status knows best whether a retry follows, and the exit status. */
static int judge_first_run(struct session *s, const struct bus_unit *u, bool failed, struct err *e)
{
	struct err late, of_record = { 0 };
	struct health t;
	const bool known = health_read(s->arena, s->root_fd, &t, &late) == 0 && is_of(t.status, u);

	/* systemd counts a stop as a success, but this machine has not converged */
	if (str_eq(u->result, "success") && u->exec_status == SIGTERM)
		return err_fail(e, ERR_SYSTEM, EINTR, "%s was stopped before it was done",
				boot_unit);
	if (str_eq(u->active_state, "inactive") && !failed)
		return 0;
	if (known && health_error(t.at_work ? t.word : t.status, &of_record) &&
	    (!failed || err_exit_status(&of_record) == u->exec_status)) {
		*e = of_record;
		return err_wrap(e, "%s", boot_unit);
	}
	if (failed)
		return err_fail(e, ERR_SYSTEM, EIO, "%s failed: %s, exit status %d", boot_unit,
				u->result, u->exec_status);
	return known ? 0
		     : err_fail(e, ERR_SYSTEM, 0, "%s: no record says what came of its first run",
				boot_unit);
}

/* Returns whether our unit's first run has ended: 1 yes, 0 not yet. The unit's start job ends when that run ends. */
static int has_finished(struct session *s, uint32_t job, struct err *e)
{
	const char *result = "";
	enum bus_job_state state = job ? bus_job_state(s->ctx.bus, job, &result) : BUS_JOB_DONE;
	struct bus_unit u;
	int r;

	if (state == BUS_JOB_RUNNING || state == BUS_JOB_WAITING)
		return 0;
	r = bus_get(s->ctx.bus, s->arena, boot_unit, &u, e);
	if (r < 0)
		return r;
	if (str_eq(u.active_state, "activating") || str_eq(u.active_state, "deactivating"))
		return 0;
	r = judge_first_run(s, &u, state == BUS_JOB_FAILED || str_eq(u.active_state, "failed"), e);
	return r < 0 ? r : 1;
}

static int wait_for_unit(struct session *s, uint32_t job, int64_t limit_ns, struct waits *waits,
			 struct err *e)
{
	struct wait w = {
		.what = boot_unit,
		.reason = OWN_STATUS " says what it does",
		.since_ns = dur_now(),
		.expected = true,
	};
	int r;

	while ((r = has_finished(s, job, e)) == 0) {
		w.next_ns = dur_now() + POLL_MS * DUR_MS;
		if (limit_ns && dur_now() - w.since_ns >= limit_ns)
			return err_fail(e, ERR_BUSY, ETIMEDOUT, "%s is still at work", boot_unit);
		if (dur_now() - w.since_ns >= QUIET_NS)
			waits_tell(waits, &w);
		wait_until(w.next_ns);
		r = bus_process(s->ctx.bus, e);
		if (r < 0)
			return r;
	}
	return r < 0 ? r : 0;
}

static int install_unit(struct cli *cli, struct session *s, struct err *e)
{
	const struct session_req req = { .cli = cli, .mode = MODE_INSTALL };
	struct run_report rep;
	struct waits *waits;
	struct run_req run;
	struct err late;
	int r = session_open(s, &req, e);

	if (r < 0)
		return r;
	run = session_run(s);
	r = run_execute(s->arena, &run, &rep, e);
	if (r < 0)
		return r;
	r = state_sync(s->ctx.state, e);
	/* lost writes must be recorded too */
	if (r == 0)
		r = state_store(s->ctx.state, e);
	else if (state_store(s->ctx.state, &late) < 0)
		log_warning("applied state not kept: %s", late.msg);
	if (r < 0)
		return r;
	show_line(stdout, "service installed");
	(void)fflush(stdout);
	/* in an image the unit is not started */
	if (!cli->wait || !s->ctx.bus)
		return 0;
	waits = waits_new();
	r = wait_for_unit(s, start_job(&rep), cli->wait_ns, waits, e);
	waits_free(waits);
	return r;
}

int service_install(struct cli *cli, struct err *e)
{
	struct session s = { 0 };
	int r = install_unit(cli, &s, e);

	session_close(&s);
	return r;
}
