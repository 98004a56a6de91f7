#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include "tests/unit/lib/run_graph.h"

/* Nothing has been applied, and no task is at work. */
static int scripted_gate(void *arg, const struct run_report *rep, struct err *e)
{
	struct graph *g = arg;

	g->gates++;
	for (size_t i = 0; i < g->n; i++)
		assert_int_equal(g->scripts[i].calls, 0);
	assert_int_equal(rep->counts[RUN_WORKING], 0);
	return g->shuts ? err_fail(e, ERR_SYSTEM, EROFS, "it is shut") : 0;
}

static void the_gate_opens_once(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, TASKS);
	g.gate = scripted_gate;
	edge(&g, 2, 1);
	edge(&g, 3, 0);
	g.scripts[0].equal = 1;
	g.scripts[1].failures = 1;
	g.scripts[1].kind = ERR_NET;
	assert_int_equal(execute(&g, 0), 0);
	assert_int_equal(g.gates, 1);
	assert_int_equal(state_of(&g, 0), RUN_EQUAL);
	for (size_t i = 1; i < TASKS; i++)
		assert_int_equal(state_of(&g, i), RUN_CHANGED);
	arena_free(g.arena);
}

static int slow_gate(void *arg, const struct run_report *rep, struct err *e)
{
	(void)arg;
	(void)rep;
	(void)e;
	(void)poll(NULL, 0, 50);
	return 0;
}

/* The time at the gate is nobody's own. */
static void a_task_that_was_held_begins_behind_the_gate(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, 2);
	g.gate = slow_gate;
	g.scripts[1].equal = 1;
	assert_int_equal(execute(&g, 0), 0);
	assert_true(g.rep.outcomes[0].start_ns - g.rep.outcomes[1].end_ns >= 50 * DUR_MS);
	arena_free(g.arena);
}

static void a_shut_gate_ends_the_run(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, TASKS);
	g.gate = scripted_gate;
	g.shuts = true;
	g.scripts[0].equal = 1;
	assert_true(execute(&g, 0) < 0);
	assert_string_equal(g.e.msg, "it is shut");
	for (size_t i = 0; i < TASKS; i++)
		assert_int_equal(g.scripts[i].calls, 0);
	arena_free(g.arena);
}

static void what_changes_nothing_asks_no_gate(void **state)
{
	struct graph g;

	(void)state;
	graph_new(&g, TASKS);
	g.gate = scripted_gate;
	g.shuts = true;
	for (size_t i = 0; i < TASKS; i++)
		g.scripts[i].equal = 1;
	assert_int_equal(execute(&g, 0), 0);
	assert_int_equal(g.gates, 0);
	arena_free(g.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_gate_opens_once),
		cmocka_unit_test(a_task_that_was_held_begins_behind_the_gate),
		cmocka_unit_test(a_shut_gate_ends_the_run),
		cmocka_unit_test(what_changes_nothing_asks_no_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
