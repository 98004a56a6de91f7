#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/run/run.h"
#include "nodeup/tasks/started.h"
#include "tests/unit/lib/scratch.h"
#include "tests/unit/lib/run_graph.h"

static void everything_is_applied_in_order(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 4);
	edge(&g, 0, 1);
	edge(&g, 1, 2);
	edge(&g, 0, 3);
	g.scripts[2].waits = 3;
	assert_int_equal(execute(&g, 0), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(state_of(&g, i), RUN_CHANGED);
		assert_int_equal(g.scripts[i].applied, 1);
	}
	assert_true(g.rep.outcomes[1].start_ns >= g.rep.outcomes[2].end_ns);
	assert_true(g.rep.outcomes[0].start_ns >= g.rep.outcomes[1].end_ns);
	assert_true(g.rep.outcomes[0].start_ns >= g.rep.outcomes[3].end_ns);
	assert_int_equal(g.rep.counts[RUN_CHANGED], 4);
	arena_free(g.arena);
}

static void equal_tasks_are_left_alone(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 2);
	edge(&g, 1, 0);
	g.scripts[0].equal = g.scripts[1].equal = 1;
	assert_int_equal(execute(&g, 0), 0);
	assert_int_equal(g.scripts[0].applied + g.scripts[1].applied, 0);
	assert_int_equal(g.rep.counts[RUN_EQUAL], 2);
	arena_free(g.arena);
}

static void transient_errors_are_retried_three_times(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 2);
	g.scripts[0] = (struct script){ .failures = 2, .kind = ERR_SYSTEM };
	g.scripts[1] = (struct script){ .failures = -1, .kind = ERR_NET };
	assert_int_equal(execute(&g, 0), -EIO);
	assert_int_equal(state_of(&g, 0), RUN_CHANGED);
	assert_int_equal(g.rep.outcomes[0].attempts, 2);
	assert_int_equal(state_of(&g, 1), RUN_FAILED);
	assert_int_equal(g.rep.outcomes[1].attempts, 3);
	assert_int_equal(g.e.kind, ERR_NET);
	assert_string_equal(g.e.msg, "scripted b: scripted failure of b");
	arena_free(g.arena);
}

static void a_retry_comes_after_a_pause(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, TASKS);
	for (size_t i = 0; i < TASKS; i++)
		g.scripts[i] = (struct script){ .failures = 1, .kind = ERR_SYSTEM };
	assert_int_equal(execute(&g, 0), 0);
	/* full jitter: that six of them are this short is not an accident any more */
	assert_true(g.longest_pause_ns > DUR_MS);
	assert_true(g.longest_pause_ns <= 200 * DUR_MS);
	arena_free(g.arena);
}

static void a_permanent_error_is_not_retried_and_blocks_its_users_only(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 4);
	edge(&g, 1, 0);
	edge(&g, 2, 1);
	g.scripts[0] = (struct script){ .failures = -1, .kind = ERR_CONFIG };
	assert_true(execute(&g, 0) < 0);
	assert_int_equal(g.e.kind, ERR_CONFIG);
	assert_int_equal(g.rep.outcomes[0].attempts, 1);
	assert_int_equal(state_of(&g, 1), RUN_SKIPPED);
	assert_int_equal(state_of(&g, 2), RUN_SKIPPED);
	assert_int_equal(state_of(&g, 3), RUN_CHANGED);
	assert_int_equal(g.scripts[1].applied + g.scripts[2].applied, 0);
	arena_free(g.arena);
}

/* What was stopped for another's sake is started again, whatever became of it, and not before. */
static void what_is_always_done_is_done_after_failures_too(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 5);
	edge(&g, 1, 0);
	edge(&g, 2, 1);
	edge(&g, 2, 3);
	edge(&g, 4, 2);
	g.tasks[2].always = true;
	g.scripts[0] = (struct script){ .failures = -1, .kind = ERR_CONFIG };
	g.scripts[3] = (struct script){ .waits = 3 };
	assert_true(execute(&g, 0) < 0);
	assert_int_equal(state_of(&g, 1), RUN_SKIPPED);
	assert_int_equal(state_of(&g, 2), RUN_CHANGED);
	assert_true(g.rep.outcomes[2].start_ns >= g.rep.outcomes[3].end_ns);
	assert_int_equal(state_of(&g, 4), RUN_CHANGED);
	arena_free(g.arena);
}

/* It has not come to its turn when the run ends: it does what it can at once. */
static void what_is_always_done_is_told_of_the_deadline(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 3);
	edge(&g, 1, 0);
	edge(&g, 2, 0);
	g.tasks[1].always = true;
	g.scripts[0].waits = -1;
	assert_int_equal(execute(&g, dur_now() + 20 * DUR_MS), -ETIMEDOUT);
	assert_int_equal(g.scripts[0].canceled, 1);
	assert_int_equal(g.scripts[1].canceled, 1);
	assert_int_equal(g.scripts[1].calls, 0);
	assert_int_equal(g.scripts[2].canceled, 0);
	arena_free(g.arena);
}

static void an_optional_failure_does_not_fail_the_run(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 2);
	g.tasks[0].optional = true;
	g.scripts[0] = (struct script){ .failures = -1, .kind = ERR_INTEGRITY };
	assert_int_equal(execute(&g, 0), 0);
	assert_int_equal(state_of(&g, 0), RUN_FAILED);
	arena_free(g.arena);
}

/* A warning is enough: what only comes after it is done all the same. */
static void what_needs_an_optional_task_goes_on_without_it(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 4);
	/* b is made from a and not needed either; c comes after b, d after c */
	g.tasks[0].optional = g.tasks[1].optional = true;
	edge(&g, 1, 0);
	serve(&g, 0, 1);
	edge(&g, 2, 1);
	edge(&g, 3, 2);
	g.scripts[0] = (struct script){ .failures = -1, .kind = ERR_CONFIG };
	assert_int_equal(execute(&g, 0), 0);
	assert_int_equal(state_of(&g, 0), RUN_FAILED);
	assert_int_equal(state_of(&g, 1), RUN_SKIPPED);
	assert_int_equal(state_of(&g, 2), RUN_CHANGED);
	assert_int_equal(state_of(&g, 3), RUN_CHANGED);
	arena_free(g.arena);
}

/* No run ends well that left out what the node cannot do without. */
static void what_is_made_from_an_optional_task_fails_the_run(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 3);
	g.tasks[0].optional = true;
	edge(&g, 1, 0);
	serve(&g, 0, 1);
	edge(&g, 2, 1);
	g.scripts[0] = (struct script){ .failures = -1, .kind = ERR_INTEGRITY };
	assert_true(execute(&g, 0) < 0);
	assert_int_equal(g.e.kind, ERR_INTEGRITY);
	assert_string_equal(g.e.msg, "scripted a: scripted failure of a");
	assert_int_equal(state_of(&g, 1), RUN_SKIPPED);
	assert_int_equal(state_of(&g, 2), RUN_SKIPPED);
	arena_free(g.arena);
}

static void what_nobody_waits_for_is_dropped(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 2);
	serve(&g, 0, 1);
	g.scripts[0].waits = -1;
	assert_int_equal(execute(&g, 0), 0);
	assert_int_equal(state_of(&g, 0), RUN_UNNEEDED);
	assert_int_equal(g.scripts[0].canceled, 1);
	assert_true(g.rep.outcomes[0].waited_ns > 0);
	arena_free(g.arena);
}

static void who_waits_for_tasks_is_called_a_last_time(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 3);
	g.scripts[0].wait_for_tasks = true;
	g.scripts[1].waits = 2;
	assert_int_equal(execute(&g, 0), 0);
	assert_int_equal(g.scripts[0].applied, 1);
	assert_true(g.rep.outcomes[0].end_ns >= g.rep.outcomes[1].end_ns);
	arena_free(g.arena);
}

/* A worker that comes back is an event by itself: who asks what costs something must not ask again at
 * each of them. */
static void who_waits_for_a_time_is_asked_no_sooner(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 3);
	g.scripts[0] = (struct script){ .waits = 2, .pause_ns = 100 * DUR_MS };
	g.scripts[1].waits = 20;
	assert_int_equal(execute(&g, 0), 0);
	assert_int_equal(g.scripts[0].calls, 3);
	assert_true(g.rep.outcomes[0].end_ns - g.rep.outcomes[0].start_ns >= 200 * DUR_MS);
	arena_free(g.arena);
}

static void a_wake_during_apply_is_not_lost(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 1);
	g.scripts[0].wakes_itself = true;
	assert_int_equal(execute(&g, dur_now() + 60 * DUR_SEC), 0);
	assert_int_equal(g.scripts[0].calls, 2);
	arena_free(g.arena);
}

/* Who needs the waiting one waits as well, for what only the last call can bring. */
static void a_last_call_comes_although_others_are_blocked(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 3);
	edge(&g, 2, 0);
	g.scripts[0].wait_for_tasks = true;
	g.scripts[1] = (struct script){ .failures = -1, .kind = ERR_CONFIG };
	g.tasks[1].optional = true;
	assert_int_equal(execute(&g, dur_now() + 5 * DUR_SEC), 0);
	assert_int_equal(state_of(&g, 0), RUN_CHANGED);
	assert_int_equal(state_of(&g, 2), RUN_CHANGED);
	arena_free(g.arena);
}

/* So that no processor is left with it alone at the end. */
static void what_reads_most_is_begun_first(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 6);
	/* those that the scheduler's own thread checks, one after another */
	g.scripts[3].reads = 200;
	g.scripts[5].reads = 300;
	assert_int_equal(execute(&g, dur_now() + 60 * DUR_SEC), 0);
	assert_true(g.scripts[5].checked < g.scripts[3].checked);
	assert_true(g.scripts[3].checked < g.scripts[1].checked);
	arena_free(g.arena);
}

/* The first turn takes so long that another check would end before it. */
static int check_in_turn(const struct task *t, struct task_ctx *ctx, struct task_diff *d,
			 struct err *e)
{
	if (script_of(t)->reads == 1)
		(void)poll(NULL, 0, 20);
	return scripted_check(t, ctx, d, e);
}

static int turn_of(const struct task *t, struct task_ctx *ctx)
{
	(void)ctx;
	return (int)script_of(t)->reads;
}

/* Who would wait for what another reads holds no worker meanwhile. What cannot begin yet is not waited for. */
static void a_check_waits_for_those_of_lower_turns(void **state)
{
	static const struct task_ops ops = {
		.kind = "scripted", .turn = turn_of, .check = check_in_turn, .apply = scripted_apply
	};
	static const uint64_t turns[] = { 3, 2, 1, 1, 1, 0 };
	struct graph g;

	(void)state;
	graph_new(&g, ARRAY_LEN(turns));
	for (size_t i = 0; i < g.n; i++) {
		g.tasks[i].ops = &ops;
		g.scripts[i].reads = turns[i];
	}
	edge(&g, 4, 0);
	assert_int_equal(execute(&g, dur_now() + 60 * DUR_SEC), 0);
	assert_true(g.scripts[5].checked < g.scripts[2].checked);
	assert_true(g.scripts[1].checked > g.scripts[2].checked);
	assert_true(g.scripts[1].checked > g.scripts[3].checked);
	assert_true(g.scripts[0].checked > g.scripts[1].checked);
	assert_true(g.scripts[4].checked > g.scripts[0].checked);
	arena_free(g.arena);
}

/* The longest way to the end decides when it ends. */
static void what_most_waits_for_is_begun_first(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 6);
	/* the first waits for nothing, and nothing for it; of the two others one has a longer chain behind it */
	for (size_t i = 0; i < g.n; i++)
		g.tasks[i].ops = &on_main;
	edge(&g, 3, 1);
	edge(&g, 4, 2);
	edge(&g, 5, 4);
	assert_int_equal(execute(&g, dur_now() + 60 * DUR_SEC), 0);
	assert_true(g.scripts[2].checked < g.scripts[1].checked);
	assert_true(g.scripts[1].checked < g.scripts[0].checked);
	arena_free(g.arena);
}

/* What ends that it is not made from cannot bring what it waits for. */
static void a_task_that_waits_for_its_sources_is_called_by_these_alone(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 6);
	g.scripts[0].wait_for_tasks = true;
	serve(&g, 1, 0);
	for (int i = 1; i < 6; i++)
		g.scripts[i] = (struct script){ .waits = 1, .pause_ns = 20 * i * DUR_MS };
	assert_int_equal(execute(&g, dur_now() + 60 * DUR_SEC), 0);
	assert_int_equal(state_of(&g, 0), RUN_CHANGED);
	/* at first, when b is done, and when nothing else is left */
	assert_int_equal(g.scripts[0].calls, 3);
	arena_free(g.arena);
}

/* An order and no condition: what comes after goes on, and the run has failed all the same. */
static void an_advisory_task_that_fails_blocks_nobody(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 2);
	edge(&g, 1, 0);
	g.tasks[0].advisory = true;
	g.scripts[0] = (struct script){ .failures = -1, .kind = ERR_CONFIG };
	assert_true(execute(&g, 0) < 0);
	assert_int_equal(g.e.kind, ERR_CONFIG);
	assert_int_equal(state_of(&g, 0), RUN_FAILED);
	assert_int_equal(state_of(&g, 1), RUN_CHANGED);
	arena_free(g.arena);
}

static void all_is_well_is_not_said_after_an_advisory_failure(void **state)
{
	struct task_ops says;
	struct graph g;

	(void)state;
	graph_new(&g, 2);
	edge(&g, 1, 0);
	says = *g.tasks[1].ops;
	says.says_all_is_well = true;
	g.tasks[1].ops = &says;
	g.tasks[0].advisory = true;
	g.scripts[0] = (struct script){ .failures = -1, .kind = ERR_CONFIG };
	assert_true(execute(&g, 0) < 0);
	assert_int_equal(state_of(&g, 1), RUN_SKIPPED);
	assert_int_equal(g.scripts[1].calls, 0);
	arena_free(g.arena);
}

/* An archive may be missing as long as nobody misses it; then its error is the cause. */
static void what_misses_a_broken_source_fails_with_its_error(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 4);
	/* c waits for one of: b, unpacked from a */
	edge(&g, 1, 0);
	serve(&g, 0, 1);
	serve(&g, 1, 2);
	edge(&g, 3, 2);
	g.tasks[0].optional = g.tasks[1].optional = true;
	g.scripts[0] = (struct script){ .failures = -1, .kind = ERR_INTEGRITY };
	g.scripts[2] =
		(struct script){ .wait_for_tasks = true, .failures = -1, .kind = ERR_CONFIG };
	assert_true(execute(&g, dur_now() + 5 * DUR_SEC) < 0);
	assert_int_equal(g.e.kind, ERR_INTEGRITY);
	assert_string_equal(g.e.msg, "scripted c: scripted a: scripted failure of a");
	assert_int_equal(state_of(&g, 3), RUN_SKIPPED);
	arena_free(g.arena);
}

/* The last thing that was said of who waits for tasks. */
static void keep_waiting(void *arg, const struct run_report *rep, const struct run_outcome *o)
{
	struct graph *g = arg;

	(void)o;
	if (rep->outcomes[3].run.waiting[0])
		(void)snprintf(g->said, sizeof(g->said), "%s", rep->outcomes[3].run.waiting);
}

/* What failed will not come: nobody is told to wait for it. */
static void what_waits_names_what_is_under_way(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 4);
	serve(&g, 0, 3);
	serve(&g, 1, 3);
	serve(&g, 2, 3);
	g.tasks[0].optional = g.tasks[2].optional = true;
	g.scripts[0] = (struct script){ .failures = -1, .kind = ERR_CONFIG };
	g.scripts[1].waits = 300;
	g.scripts[2] = (struct script){ .failures = -1, .kind = ERR_CONFIG };
	g.scripts[3].wait_for_tasks = true;
	g.watch = keep_waiting;
	assert_int_equal(execute(&g, 0), 0);
	assert_string_equal(g.said, "scripted b");
	arena_free(g.arena);
}

/* How long it waits is said of what it waits for now. */
static void another_wait_begins_anew(void **state)
{
	for (int two = 0; two < 2; two++) {
		struct graph g;

		(void)state;
		graph_new(&g, 1);
		g.scripts[0].waits = 4;
		g.scripts[0].waits_of_stage = two ? 2 : 0;
		assert_int_equal(execute(&g, 0), 0);
		assert_int_equal(g.scripts[0].calls, 5);
		assert_true(g.scripts[0].waited_first > 0);
		assert_int_equal(g.rep.outcomes[0].run.since_ns > g.scripts[0].waited_first, two);
		arena_free(g.arena);
	}
}

/* Task e needs a and c; f is made from c, and waits for that alone. */
static void who_was_waited_for_last_is_known(void **state)
{
	const struct run_outcome *o;
	struct graph g;

	(void)state;
	graph_new(&g, 6);
	edge(&g, 4, 2);
	edge(&g, 4, 0);
	serve(&g, 2, 5);
	g.scripts[0] = (struct script){ .waits = 1, .pause_ns = 20 * DUR_MS };
	g.scripts[2] = (struct script){ .waits = 1, .pause_ns = DUR_SEC };
	g.scripts[5].wait_for_tasks = true;
	assert_int_equal(execute(&g, dur_now() + 60 * DUR_SEC), 0);
	o = g.rep.outcomes;
	assert_null(o[0].after);
	assert_ptr_equal(o[4].after, &g.tasks[2]);
	assert_ptr_equal(o[5].after, &g.tasks[2]);
	/* the time of other tasks is not its own */
	assert_true(o[4].start_ns >= o[2].end_ns && o[5].start_ns >= o[2].end_ns);
	assert_true(o[0].waited_ns >= 20 * DUR_MS && o[0].waited_ns < o[2].waited_ns);
	assert_true(o[2].waited_ns >= DUR_SEC && o[5].waited_ns == 0);
	/* Nobody asks for the reason of a short wait. On a busy machine this one can become long. */
	if (o[0].waited_ns < 250 * DUR_MS)
		assert_null(o[0].held_by);
	assert_string_equal(o[2].held_by, "the clock");
	arena_free(g.arena);
}

static void the_deadline_says_what_it_waited_for(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 1);
	g.scripts[0].waits = -1;
	assert_int_equal(execute(&g, dur_now() + 20 * DUR_MS), -ETIMEDOUT);
	assert_int_equal(g.e.kind, ERR_BUSY);
	assert_non_null(strstr(g.e.msg, "the clock"));
	assert_int_equal(g.scripts[0].canceled, 1);
	arena_free(g.arena);
}

/* 75 says that time was short; what failed says more. */
static void the_deadline_exits_with_what_failed(void **state)
{
	static const struct {
		struct script other;
		enum err_kind kind;
	} rows[] = {
		{ { .failures = -1, .kind = ERR_CONFIG }, ERR_CONFIG },
		{ { .waits = -1, .trouble = ERR_NET }, ERR_NET },
		{ { .waits = -1 }, ERR_BUSY },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct graph g;

		graph_new(&g, 2);
		g.scripts[0].waits = -1;
		g.scripts[1] = rows[i].other;
		assert_true(execute(&g, dur_now() + 20 * DUR_MS) < 0);
		assert_int_equal(g.e.kind, rows[i].kind);
		arena_free(g.arena);
	}
}

static void a_failure_at_the_deadline_is_a_failure(void **state)
{
	struct graph g;
	int64_t deadline = dur_now() + 10 * DUR_MS;

	(void)state;
	graph_new(&g, 1);
	g.scripts[0] = (struct script){ .failures = -1,
					.kind = ERR_CONFIG,
					.busy_until_ns = deadline + 5 * DUR_MS };
	assert_true(execute(&g, deadline) < 0);
	assert_int_equal(g.e.kind, ERR_CONFIG);
	arena_free(g.arena);
}

/* A worker that is late is waited for: it writes to what the caller is about to read and free. */
static void no_worker_is_left_behind(void **state)
{
	struct graph g;
	int64_t deadline = dur_now() + 10 * DUR_MS;

	(void)state;
	graph_new(&g, 2);
	g.scripts[0].busy_until_ns = deadline + 300 * DUR_MS;
	g.scripts[1].waits = -1;
	assert_int_equal(execute(&g, deadline), -ETIMEDOUT);
	assert_int_equal(state_of(&g, 0), RUN_CHANGED);
	assert_int_equal(g.scripts[0].applied, 1);
	arena_free(g.arena);
}

/* Of two files of one unit the second only has another mode. Both fail to be written. */
static void a_unit_is_in_doubt_before_its_file_is_written(void **state)
{
	static const char *const files[] = { "/a", "/b" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct started s = { .state = STARTED_DONE, .us = 1 };
		struct scratch root;
		struct graph g;

		scratch_new(&root);
		graph_new(&g, 3);
		edge(&g, 2, 0);
		edge(&g, 2, 1);
		g.ctx.root_fd = root.fd;
		g.tasks[0].name = files[0];
		g.tasks[1].name = files[1];
		g.tasks[2].kind = TASK_UNIT;
		g.tasks[2].name = "x.service";
		g.tasks[2].unit.inputs = (struct strv){ (const char **)(uintptr_t)files, 2 };
		g.scripts[i].failures = -1;
		g.scripts[i].kind = ERR_CONFIG;
		g.scripts[!i].equal = 1;
		g.scripts[1].kept = true;
		digest_of(DIGEST_SHA256, "x", 1, &s.inputs);
		assert_int_equal(started_set(root.fd, "x.service", &s, &g.e), 0);
		assert_int_equal(execute(&g, 0), -EIO);
		assert_int_equal(started_get(root.fd, "x.service").state,
				 i ? STARTED_DONE : STARTED_DOUBT);
		arena_free(g.arena);
		scratch_done(&root);
	}
}

static void what_could_not_be_compared_is_no_change(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 2);
	edge(&g, 1, 0);
	g.scripts[0].unsure = true;
	const struct run_req req = { .tasks = g.list, .n = g.n, .ctx = &g.ctx };

	run_plan(g.arena, &req, &g.rep);
	assert_int_equal(state_of(&g, 0), RUN_UNSURE);
	assert_int_equal(state_of(&g, 1), RUN_CHANGED);
	assert_false(g.ctx.changed[0]);
	assert_int_equal(g.scripts[0].applied, 0);

	assert_int_equal(execute(&g, 0), 0);
	assert_int_equal(state_of(&g, 0), RUN_EQUAL);
	assert_int_equal(state_of(&g, 1), RUN_CHANGED);
	assert_false(g.ctx.changed[0]);
	assert_int_equal(g.scripts[0].applied, 1);
	arena_free(g.arena);
}

static void a_plan_says_of_what_the_content_stays(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 3);
	g.scripts[0].kept = true;
	g.scripts[2].equal = 1;
	const struct run_req req = { .tasks = g.list, .n = g.n, .ctx = &g.ctx };

	run_plan(g.arena, &req, &g.rep);
	assert_true(g.ctx.changed[0] && g.ctx.kept[0]);
	assert_true(g.ctx.changed[1] && !g.ctx.kept[1]);
	assert_false(g.ctx.changed[2] || g.ctx.kept[2]);
	arena_free(g.arena);
}

static void a_plan_applies_nothing(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 3);
	edge(&g, 0, 1);
	serve(&g, 2, 0);
	g.scripts[1].equal = 1;
	const struct run_req req = { .tasks = g.list, .n = g.n, .ctx = &g.ctx };

	run_plan(g.arena, &req, &g.rep);
	assert_int_equal(state_of(&g, 0), RUN_CHANGED);
	assert_int_equal(state_of(&g, 1), RUN_EQUAL);
	assert_int_equal(state_of(&g, 2), RUN_CHANGED);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(g.scripts[i].applied, 0);
	arena_free(g.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_applied_in_order),
		cmocka_unit_test(equal_tasks_are_left_alone),
		cmocka_unit_test(transient_errors_are_retried_three_times),
		cmocka_unit_test(a_retry_comes_after_a_pause),
		cmocka_unit_test(a_permanent_error_is_not_retried_and_blocks_its_users_only),
		cmocka_unit_test(what_is_always_done_is_done_after_failures_too),
		cmocka_unit_test(what_is_always_done_is_told_of_the_deadline),
		cmocka_unit_test(an_optional_failure_does_not_fail_the_run),
		cmocka_unit_test(what_needs_an_optional_task_goes_on_without_it),
		cmocka_unit_test(what_is_made_from_an_optional_task_fails_the_run),
		cmocka_unit_test(what_nobody_waits_for_is_dropped),
		cmocka_unit_test(who_waits_for_tasks_is_called_a_last_time),
		cmocka_unit_test(a_last_call_comes_although_others_are_blocked),
		cmocka_unit_test(what_reads_most_is_begun_first),
		cmocka_unit_test(a_check_waits_for_those_of_lower_turns),
		cmocka_unit_test(what_most_waits_for_is_begun_first),
		cmocka_unit_test(a_task_that_waits_for_its_sources_is_called_by_these_alone),
		cmocka_unit_test(who_waits_for_a_time_is_asked_no_sooner),
		cmocka_unit_test(a_wake_during_apply_is_not_lost),
		cmocka_unit_test(an_advisory_task_that_fails_blocks_nobody),
		cmocka_unit_test(all_is_well_is_not_said_after_an_advisory_failure),
		cmocka_unit_test(what_misses_a_broken_source_fails_with_its_error),
		cmocka_unit_test(what_waits_names_what_is_under_way),
		cmocka_unit_test(another_wait_begins_anew),
		cmocka_unit_test(who_was_waited_for_last_is_known),
		cmocka_unit_test(the_deadline_says_what_it_waited_for),
		cmocka_unit_test(the_deadline_exits_with_what_failed),
		cmocka_unit_test(a_failure_at_the_deadline_is_a_failure),
		cmocka_unit_test(no_worker_is_left_behind),
		cmocka_unit_test(a_unit_is_in_doubt_before_its_file_is_written),
		cmocka_unit_test(what_could_not_be_compared_is_no_change),
		cmocka_unit_test(a_plan_says_of_what_the_content_stays),
		cmocka_unit_test(a_plan_applies_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
