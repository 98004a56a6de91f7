/* run_graph.h - a graph of scripted tasks, and a run of them
 * Owner: the graph's arena. Errors: the test fails. Threads: the scheduler's. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include "nodeup/base/dur.h"
#include "nodeup/run/run.h"

enum { TASKS = 6 };

/* What a scripted task does, by its index. */
struct script {
	int equal;    /* check says so */
	bool kept;    /* check says that the content is right */
	bool unsure;  /* check cannot compare, and apply finds it right */
	int failures; /* applies that fail before one succeeds; -1: all */
	enum err_kind kind;
	int waits;         /* applies that wait, woken by the clock */
	int64_t pause_ns;  /* until then, whatever others do */
	bool wakes_itself; /* as somebody may while apply is still at it */
	bool wait_for_tasks;
	int64_t busy_until_ns; /* apply comes back no earlier */
	enum err_kind trouble; /* of what it waits for */
	int waits_of_stage;    /* then it waits for something else */
	int64_t waited_first;  /* since when, as was said at the second call */
	uint64_t reads;        /* bytes */
	int applied, canceled, calls, checked;
};

struct graph {
	struct arena *arena;
	struct script scripts[TASKS];
	struct task tasks[TASKS];
	const struct task *list[TASKS];
	struct task_ctx ctx;
	struct run_report rep;
	struct err e;
	size_t n;
	int64_t longest_pause_ns;
	run_watch_fn *watch; /* instead of the one that measures pauses */
	char said[ERR_NOTE_MAX];
	run_gate_fn *gate;
	int gates;
	bool shuts; /* the gate */
};

/* scripts are found through the task's name, which points at one */
static inline struct script *script_of(const struct task *t)
{
	return (struct script *)(uintptr_t)t->origin;
}

static inline int scripted_check(const struct task *t, struct task_ctx *ctx, struct task_diff *d,
				 struct err *e)
{
	static atomic_int checks;

	(void)ctx;
	(void)e;
	script_of(t)->checked = atomic_fetch_add(&checks, 1);
	if (script_of(t)->equal)
		return TASK_EQUAL;
	(void)task_differs(d, "scripted");
	d->kept = script_of(t)->kept;
	d->unsure = script_of(t)->unsure;
	return TASK_DIFFERS;
}

static inline int scripted_apply(const struct task *t, struct task_ctx *ctx, struct task_run *run,
				 struct err *e)
{
	struct script *s = script_of(t);

	s->calls++;
	if (s->wakes_itself && s->calls == 1) {
		task_wake(ctx, run);
		return task_wait(run, 0, "a wake");
	}
	if (s->wait_for_tasks && !run->last_call) {
		run->on_tasks = true;
		return task_wait(run, 0, "the others");
	}
	if (s->calls == 2)
		s->waited_first = run->since_ns;
	if (s->waits != 0) {
		run->stage = s->waits_of_stage && s->calls > s->waits_of_stage;
		s->waits -= s->waits > 0;
		run->trouble = s->trouble;
		return task_wait(run, dur_now() + (s->pause_ns ? s->pause_ns : DUR_MS),
				 "the clock");
	}
	while (dur_now() < s->busy_until_ns)
		(void)poll(NULL, 0, 1);
	if (s->failures != 0) {
		s->failures -= s->failures > 0;
		return err_fail(e, s->kind, EIO, "scripted failure of %s", t->name);
	}
	s->applied++;
	run->equal = run->unsure;
	return TASK_DONE;
}

static inline void scripted_cancel(const struct task *t, struct task_ctx *ctx)
{
	(void)ctx;
	script_of(t)->canceled++;
}

static inline uint64_t scripted_reads(const struct task *t, struct task_ctx *ctx)
{
	(void)ctx;
	return script_of(t)->reads;
}

static const struct task_ops on_worker = { .kind = "scripted",
					   .check = scripted_check,
					   .apply = scripted_apply,
					   .cancel = scripted_cancel };
static const struct task_ops on_main = { .kind = "scripted",
					 .on_main = true,
					 .reads = scripted_reads,
					 .check = scripted_check,
					 .apply = scripted_apply,
					 .cancel = scripted_cancel };

static inline void graph_new(struct graph *g, size_t n)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };

	*g = (struct graph){ .arena = arena_new_empty(), .n = n };
	for (size_t i = 0; i < n; i++) {
		g->tasks[i] = (struct task){
			.name = names[i],
			.origin = (const char *)&g->scripts[i],
			.index = i,
			.ops = i % 2 ? &on_main : &on_worker,
		};
		g->list[i] = &g->tasks[i];
	}
}

static inline void edge(struct graph *g, size_t user, size_t need)
{
	struct task *u = &g->tasks[user], *n = &g->tasks[need];

	arena_push(g->arena, u->needs, u->n_needs, n);
	arena_push(g->arena, n->users, n->n_users, u);
}

static inline void serve(struct graph *g, size_t server, size_t client)
{
	struct task *t = &g->tasks[server];

	arena_push(g->arena, t->serves, t->n_serves, &g->tasks[client]);
}

/* The longest time until a first retry. */
static inline void note_pause(void *arg, const struct run_report *rep, const struct run_outcome *o)
{
	struct graph *g = arg;

	(void)rep;
	if (o && o->state == RUN_RETRYING && o->run.next_ns - dur_now() > g->longest_pause_ns)
		g->longest_pause_ns = o->run.next_ns - dur_now();
}

static inline int execute(struct graph *g, int64_t deadline_ns)
{
	struct workers *workers;
	int r;

	assert_int_equal(workers_new(&workers, &g->e), 0);
	const struct run_req req = {
		.tasks = g->list,
		.n = g->n,
		.ctx = &g->ctx,
		.workers = workers,
		.deadline_ns = deadline_ns,
		.watch = g->watch ? g->watch : note_pause,
		.watch_arg = g,
		.gate = g->gate,
		.gate_arg = g,
	};
	r = run_execute(g->arena, &req, &g->rep, &g->e);
	workers_free(workers);
	return r;
}

static inline enum run_state state_of(const struct graph *g, size_t i)
{
	return g->rep.outcomes[i].state;
}
