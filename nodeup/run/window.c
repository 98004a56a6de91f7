#include "nodeup/run/window.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/wait.h"
#include "nodeup/host/liveness.h"
#include "nodeup/tasks/foreign.h"
#include "nodeup/tasks/kinds.h"
#include "nodeup/tasks/unit_notes.h"

#define WINDOW_NS (10 * DUR_SEC)

enum { STEP_MS = 500 };

struct watched {
	const struct task *task;
	struct bus_unit first;
	bool started, healthy, restarted;
	const char *unwell; /* the complaint about the unit while it is not healthy */
};

struct window {
	const struct run_req *req;
	struct arena *arena;
	struct watched *units;
	size_t n;
	int64_t end_ns, silence_ns;
};

static bool is_service(const struct bus_unit *u)
{
	return *u->type != '\0';
}

static int unit_failed(const struct window *w, const struct watched *u, const struct bus_unit *now,
		       const char *what, struct err *e)
{
	int r = err_fail(e, ERR_SYSTEM, EIO, "unit %s %s", u->task->name, what);

	foreign_note(u->task, w->req->ctx->root_fd, e);
	unit_notes(u->task->name, now, e);
	return r;
}

static int look_at_unit(const struct window *w, const struct watched *u, struct err *e)
{
	struct bus_unit now;
	int r = bus_get(w->req->ctx->bus, w->arena, u->task->name, &now, e);

	if (r < 0)
		return r;
	if (str_eq(now.type, "oneshot"))
		return str_eq(now.active_state, "failed") || !str_eq(now.result, "success")
			       ? unit_failed(w, u, &now, "failed", e)
			       : 0;
	if (is_service(&now) && (now.n_restarts > u->first.n_restarts ||
				 (u->first.main_pid && now.main_pid != u->first.main_pid)))
		return unit_failed(w, u, &now, "does not stay up: its process was replaced", e);
	if (!str_eq(now.active_state, "active") && !str_eq(now.active_state, "reloading"))
		return unit_failed(w, u, &now, "does not stay up", e);
	return 0;
}

/* Asks whether the unit answers now as it should. A unit that was configured to answer nobody passes. */
static int ask_health(const struct window *w, struct watched *u, struct err *e)
{
	const char *name = u->task->name;
	struct bus_unit now;
	int r = bus_get(w->req->ctx->bus, w->arena, name, &now, e);

	if (r < 0)
		return r;
	u->healthy = !answer_is_bad(
		liveness_ask(w->arena, w->req->ctx->root_fd, name, now.main_pid, &u->unwell));
	return 0;
}

/* Finds a unit that must answer and does not in this step; NULL: none. Fails at once if a unit died, but not for a
 * missing answer, which may still come. */
static int look_at_units(struct window *w, struct watched **ret_missing, struct err *e)
{
	*ret_missing = NULL;
	for (size_t i = 0; i < w->n; i++) {
		struct watched *u = &w->units[i];
		const bool is_asked = u->task->unit.must_answer && !u->healthy;
		int r = u->started ? look_at_unit(w, u, e) : 0;

		if (r == 0 && is_asked)
			r = ask_health(w, u, e);
		if (r < 0)
			return r;
		if (is_asked && !u->healthy)
			*ret_missing = u;
	}
	return 0;
}

/* Returns when the unit was last started, on our clock; 0 if the start is so long ago that the unit need not prove
 * itself. The unit may have been started by this run, by systemd meanwhile, or by a run that was killed before it
 * could look. */
static int64_t fresh_start(const struct run_outcome *o, const struct bus_unit *u)
{
	int64_t entered = (int64_t)u->active_enter_us * 1000;

	if (o->state == RUN_CHANGED)
		return entered > o->end_ns ? entered : o->end_ns;
	return entered && dur_now() - entered < WINDOW_NS ? entered : 0;
}

bool window_is_for(const struct task *t)
{
	return t->kind == TASK_UNIT && t->ops != &task_unit_off_ops && !t->unit.no_wait &&
	       !t->unit.at_boot;
}

static int collect(struct window *w, const struct run_report *rep, struct err *e)
{
	int64_t last = 0;

	w->units = arena_alloc(w->arena, (rep->n + 1) * sizeof(*w->units));
	for (size_t i = 0; i < rep->n; i++) {
		const struct run_outcome *o = &rep->outcomes[i];
		struct watched *u = &w->units[w->n];
		int64_t start;
		int r;

		if (!window_is_for(o->task) || o->run.detached ||
		    (o->state != RUN_CHANGED && o->state != RUN_EQUAL))
			continue;
		r = bus_get(w->req->ctx->bus, w->arena, o->task->name, &u->first, e);
		if (r < 0)
			return r;
		start = fresh_start(o, &u->first);
		if (!start && !o->task->unit.must_answer)
			continue;
		u->task = o->task;
		u->started = start != 0;
		if (start > last)
			last = start;
		w->n++;
	}
	w->end_ns = last ? last + WINDOW_NS : 0;
	return 0;
}

static int await_job(struct bus *bus, uint32_t job, int64_t deadline_ns, struct err *e)
{
	enum bus_job_state state;
	const char *result = "";
	int r = 0;

	while (r == 0 && (state = bus_job_state(bus, job, &result)) != BUS_JOB_DONE) {
		if (state == BUS_JOB_FAILED)
			return err_fail(e, ERR_SYSTEM, EIO, "its restart job: %s", result);
		if (dur_now() >= deadline_ns)
			return err_fail(e, ERR_BUSY, ETIMEDOUT, "deadline passed: its restart job");
		wait_until(dur_now() + STEP_MS * DUR_MS);
		r = bus_process(bus, e);
	}
	return r;
}

/* Returns whether repair may restart the unit: only once, and only if this run has not started it. */
static bool may_restart(const struct window *w, const struct watched *u)
{
	return w->req->ctx->verify && !u->started && !u->restarted;
}

static int restart(struct window *w, struct watched *u, int64_t deadline_ns, struct err *e)
{
	struct bus *bus = w->req->ctx->bus;
	const char *name = u->task->name;
	uint32_t job;
	int r = bus_job(bus, "restart", name, &job, e);

	u->started = u->restarted = true;
	if (r == 0)
		r = await_job(bus, job, deadline_ns, e);
	if (r == 0)
		r = bus_get(bus, w->arena, name, &u->first, e);
	if (r < 0)
		return err_wrap(e, "unit %s", name);
	w->end_ns = dur_now() + WINDOW_NS;
	return 0;
}

static int not_healthy(const struct window *w, const struct watched *u, int64_t since_ns,
		       struct err *e)
{
	(void)err_fail(e, ERR_SYSTEM, ETIMEDOUT, "%s", u->unwell);
	foreign_note(u->task, w->req->ctx->root_fd, e);
	if (!u->started)
		err_note(e, "do", "nodeup repair, which restarts it");
	return err_wrap(e, "unit %s is not healthy for %lld s", u->task->name,
			(long long)((dur_now() - since_ns) / DUR_SEC));
}

int window_watch(const struct run_req *req, const struct run_report *rep, window_wait_fn *wait,
		 void *arg, struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct window w = { .req = req,
			    .arena = a,
			    .silence_ns = req->silence_ns ? req->silence_ns : LIVENESS_SILENCE_NS };
	int64_t start = dur_now();
	int64_t deadline = req->deadline_ns ? req->deadline_ns : INT64_MAX;
	int r;

	if (req->ctx->image_mode)
		return 0;
	r = collect(&w, rep, e);
	while (r == 0) {
		struct watched *missing;
		const bool is_late = dur_now() >= deadline,
			   is_over = dur_now() >= start + w.silence_ns;

		r = look_at_units(&w, &missing, e);
		if (r < 0 || (!missing && dur_now() >= w.end_ns))
			break;
		if (!missing && is_late)
			return err_fail(e, ERR_BUSY, ETIMEDOUT,
					"deadline passed: services have not been up for 10 s yet");
		if (missing && !is_late && is_over && may_restart(&w, missing)) {
			wait(arg, arena_printf(a, "%s, which is restarted: for %s %s",
					       missing->task->name, dur_human(a, w.silence_ns),
					       missing->unwell));
			r = restart(&w, missing, deadline, e);
			start = dur_now();
			continue;
		}
		if (missing && (is_late || is_over))
			return not_healthy(&w, missing, start, e);
		wait(arg, missing ? missing->task->name : "services to stay up for 10 s");
		wait_until(dur_now() + STEP_MS * DUR_MS);
		r = bus_process(req->ctx->bus, e);
	}
	return r;
}
