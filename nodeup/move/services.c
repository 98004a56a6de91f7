/* Tests: test_step_back.c. */
#include "nodeup/move/move.h"

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/paths.h"
#include "nodeup/base/record.h"
#include "nodeup/tasks/baseline.h"
#include "nodeup/tasks/kinds.h"

enum { RECORD_MAX = 16 * 1024 };

#define JOB_POLL_NS (50 * DUR_MS)

/* Lists the units that nodeup stopped and has not started again. */
static struct strv stopped(const struct task_ctx *ctx, struct arena *a, const struct task_move *m)
{
	autobuf struct buf text = BUF_INIT(RECORD_MAX);
	struct strv units = { 0 }, lines;

	if (!record_read(ctx->root_fd, move_record(a, OWN_STOPPED_DIR, m), &text))
		return units;
	lines = strv_split(a, buf_str(&text), '\n');
	for (size_t i = 0; i < lines.n; i++)
		if (strv_has(&m->units, lines.v[i]))
			strv_add(a, &units, lines.v[i]);
	return units;
}

/* Returns whether a unit runs. A unit whose state is unknown counts as running: its files are not moved away under
 * it. */
static bool is_running(const struct task_ctx *ctx, struct arena *a, const char *unit)
{
	struct err ignored;
	struct bus_unit u;

	return ctx->bus &&
	       (bus_get(ctx->bus, a, unit, &u, &ignored) < 0 || bus_unit_is_at_work(&u));
}

static struct strv running(const struct task_ctx *ctx, struct arena *a, const struct task_move *m)
{
	struct strv units = { 0 };

	for (size_t i = 0; i < m->units.n; i++)
		if (is_running(ctx, a, m->units.v[i]))
			strv_add(a, &units, m->units.v[i]);
	return units;
}

static int stop_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv units;
	int r;

	if (ctx->image_mode)
		return TASK_EQUAL;
	r = move_inspect(ctx, a, &t->move, e);
	if (r < 0)
		return r;
	if (r == MOVE_DONE || !move_has_content(ctx, t->move.source))
		return TASK_EQUAL;
	units = running(ctx, a, &t->move);
	if (units.n == 0)
		return TASK_EQUAL;
	return task_differs(diff, "%s is stopped while its content is moved",
			    strv_join(a, &units, ", "));
}

/* Records the units before they are stopped: if this run is killed, the next run knows which units to start again. */
static int record_stop(struct task_ctx *ctx, struct arena *a, const struct task_move *m,
		       struct err *e)
{
	const struct strv now = running(ctx, a, m);
	struct strv all = stopped(ctx, a, m);

	for (size_t i = 0; i < now.n; i++)
		strv_add_once(a, &all, now.v[i]);
	return record_write(ctx->root_fd, move_record(a, OWN_STOPPED_DIR, m), 0644,
			    arena_printf(a, "%s\n", strv_join(a, &all, "\n")), e);
}

/* Runs a job for one unit after the other. Stage 2k+1 asks for the job of unit k, stage 2k+2 follows the job. */
static int walk_jobs(struct task_ctx *ctx, const struct strv *units, const char *verb,
		     struct task_run *run, struct err *e)
{
	for (;;) {
		const size_t k = (size_t)(run->stage - 1) / 2;
		const char *result = "";
		int r;

		if (k >= units->n)
			return TASK_DONE;
		if (run->stage % 2) {
			r = bus_job(ctx->bus, verb, units->v[k], &run->job, e);
			if (r < 0)
				return r;
			run->stage++;
		}
		switch (bus_job_state(ctx->bus, run->job, &result)) {
		case BUS_JOB_DONE:
			run->stage++;
			continue;
		case BUS_JOB_FAILED:
			return err_fail(e, ERR_SYSTEM, EIO, "the %s job of %s: %s", verb,
					units->v[k], result);
		default:
			return task_wait(run, dur_now() + JOB_POLL_NS, "the %s job of %s", verb,
					 units->v[k]);
		}
	}
}

static int stop_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
		      struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv units;
	int r;

	if (run->stage == 0) {
		r = move_users_wait_again(ctx, a, &t->move, run, e);
		if (r == 0)
			r = record_stop(ctx, a, &t->move, e);
		if (r != 0)
			return r;
		run->stage = 1;
	}
	/* a stopped unit needs no job, but stays in the list, so that the others keep their numbers */
	units = stopped(ctx, a, &t->move);
	return walk_jobs(ctx, &units, "stop", run, e);
}

/* Returns whether the move `m` is done in this run; in a plan: would be. */
static bool is_to_be_moved(const struct task *t, const struct task_ctx *ctx,
			   const struct task_move *m)
{
	for (size_t i = 0; i < t->n_needs; i++)
		if (t->needs[i]->kind == TASK_MOVE &&
		    strcmp(t->needs[i]->move.source, m->source) == 0)
			return ctx->changed && ctx->changed[t->needs[i]->index];
	return false;
}

static bool must_step_back(const struct task *t, const struct task_ctx *ctx,
			   const struct task_move *m)
{
	return !is_to_be_moved(t, ctx, m) && !step_back_is_on(ctx, m) && step_back_is_due(ctx, m);
}

/* Lets all mount units step back before any service starts: a service may use several directories. */
static int step_back(const struct task *t, const struct task_ctx *ctx, struct err *e)
{
	int r = must_step_back(t, ctx, &t->move) ? step_back_put(ctx, &t->move, e) : 0;

	for (size_t i = 0; i < t->n_needs && r == 0; i++)
		if (t->needs[i]->kind == TASK_MOVE && must_step_back(t, ctx, &t->needs[i]->move))
			r = step_back_put(ctx, &t->needs[i]->move, e);
	return r;
}

static int resume_check(const struct task *t, struct task_ctx *ctx, struct task_diff *diff,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv units;

	(void)e;
	if (ctx->image_mode)
		return TASK_EQUAL;
	units = stopped(ctx, a, &t->move);
	if (units.n > 0)
		return task_differs(diff, "%s was stopped for the move",
				    strv_join(a, &units, ", "));
	if (must_step_back(t, ctx, &t->move))
		return task_differs(diff, "it was not moved: its mount steps back, for %s to start",
				    strv_join(a, &t->move.units, ", "));
	return TASK_EQUAL;
}

/* Lists the units to start. The unit that was stopped last comes first: the others need it. */
static struct strv to_start(const struct task *t, struct task_ctx *ctx, struct arena *a)
{
	const struct strv was = stopped(ctx, a, &t->move);
	struct strv units = { 0 };

	for (size_t i = was.n; i > 0; i--)
		strv_add(a, &units, was.v[i - 1]);
	return units;
}

static int resume_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
			struct err *e)
{
	autoarena struct arena *a = arena_new_empty();
	const struct strv units = to_start(t, ctx, a);
	int r;

	if (run->stage == 0) {
		r = step_back(t, ctx, e);
		if (r < 0)
			return r;
		run->stage = 1;
	}
	r = walk_jobs(ctx, &units, "start", run, e);
	if (r != TASK_DONE)
		return r;
	return io_remove(ctx->root_fd, move_record(a, OWN_STOPPED_DIR, &t->move), e);
}

/* If the run ends before this task was done: lets mount units step back, and starts the stopped units. */
static void resume_cancel(const struct task *t, struct task_ctx *ctx)
{
	autoarena struct arena *a = arena_new_empty();
	struct err ignored;
	struct strv units;
	uint32_t job;

	if (ctx->image_mode || !ctx->bus)
		return;
	(void)!step_back(t, ctx, &ignored);
	units = to_start(t, ctx, a);
	for (size_t i = 0; i < units.n; i++)
		(void)!bus_job(ctx->bus, "start", units.v[i], &job, &ignored);
}

const struct task_ops task_stop_ops = {
	.kind = "stop",
	.on_main = true,
	.check = stop_check,
	.apply = stop_apply,
	.compare = baseline_once,
};

const struct task_ops task_resume_ops = {
	.kind = "resume",
	.on_main = true,
	.check = resume_check,
	.apply = resume_apply,
	.compare = baseline_once,
	.cancel = resume_cancel,
};
