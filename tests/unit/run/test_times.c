#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/json.h"
#include "nodeup/run/times.h"
#include "nodeup/tasks/kinds.h"

/* A run of n tasks that write files of a long name, one after the other, a millisecond each. */
struct sample {
	struct task *tasks;
	struct run_report rep;
};

static struct sample sample(struct arena *a, size_t n)
{
	struct sample s = { .tasks = arena_alloc(a, (n + 1) * sizeof(*s.tasks)) };
	struct run_outcome *o = arena_alloc(a, (n + 1) * sizeof(*o));
	struct err *errs = arena_alloc(a, (n + 1) * sizeof(*errs));

	s.rep = (struct run_report){ .outcomes = o, .n = n, .start_ns = DUR_SEC };
	for (size_t i = 0; i < n; i++) {
		s.tasks[i] = (struct task){
			.kind = TASK_FILE,
			.ops = &task_file_ops,
			.name = arena_printf(a, "/etc/kubernetes/%060zu", i),
			.index = i,
		};
		o[i] = (struct run_outcome){
			.task = &s.tasks[i],
			.state = RUN_CHANGED,
			.error = &errs[i],
			.start_ns = DUR_SEC + (int64_t)i * DUR_MS,
			.end_ns = DUR_SEC + (int64_t)(i + 1) * DUR_MS,
			.after = i ? &s.tasks[i - 1] : NULL,
		};
		s.rep.end_ns = o[i].end_ns;
	}
	return s;
}

static const char *render(struct arena *a, const struct tree *t)
{
	autobuf struct buf b = BUF_INIT(4 << 20);
	struct err e;

	if (json_render(t, false, &b, &e) < 0)
		fail_msg("%s", e.msg);
	return arena_str(a, buf_str(&b));
}

static void a_row_has_lane_times_and_what_it_waited_for(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct sample s = sample(a, 3);
	struct run_outcome *o = s.rep.outcomes;

	(void)state;
	s.tasks[0].name = "/a";
	s.tasks[2].kind = TASK_UNIT;
	s.tasks[2].ops = &task_unit_ops;
	s.tasks[2].name = "kubelet.service";
	/* right within a millisecond: it has no row, and who waited for it has waited for what it waited for */
	o[1].state = RUN_EQUAL;
	o[2].end_ns = o[2].start_ns + 2 * DUR_SEC;
	o[2].waited_ns = o[2].held_ns = 1900 * DUR_MS;
	o[2].held_by = "its start job";
	assert_string_equal(render(a, tree_get(times_tree(a, &s.rep, NULL), "times")),
			    "[[\"file /a\",\"disk\",0,1,0,-1,\"changed\"],"
			    "[\"unit kubelet.service\",\"services\",2,2002,1900,0,\"changed\","
			    "\"its start job\"]]");
	/* a failed try explains more than a wait; what ended with the run has a row, too */
	(void)err_fail(o[2].error, ERR_SYSTEM, 0, "crashed");
	o[0].state = RUN_WAITING;
	o[0].end_ns = 0;
	s.rep.end_ns = DUR_SEC + 700 * DUR_MS;
	assert_string_equal(render(a, tree_get(times_tree(a, &s.rep, NULL), "times")),
			    "[[\"file /a\",\"disk\",0,700,0,-1,\"waiting\"],"
			    "[\"unit kubelet.service\",\"services\",2,2002,1900,0,\"changed\","
			    "\"crashed\"]]");
}

static void an_asset_that_waited_for_no_server_was_hashed(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct sample s = sample(a, 1);

	(void)state;
	s.tasks[0].kind = TASK_ASSET;
	s.tasks[0].ops = &task_asset_ops;
	assert_non_null(strstr(render(a, times_tree(a, &s.rep, NULL)), "\"processor\""));
	s.rep.outcomes[0].waited_ns = DUR_MS;
	assert_non_null(strstr(render(a, times_tree(a, &s.rep, NULL)), "\"net\""));
}

static void a_run_that_changed_nothing_has_few_rows(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct sample s = sample(a, 100);
	const struct tree *t;

	(void)state;
	for (size_t i = 0; i < 100; i++)
		s.rep.outcomes[i].state = RUN_EQUAL;
	s.rep.outcomes[50].end_ns += 20 * DUR_MS;
	t = times_tree(a, &s.rep, NULL);
	assert_int_equal(tree_get(t, "times")->n, 1);
	assert_null(tree_get(t, "timesLeftOut"));
	assert_string_equal(tree_text(t, "beganMs"), "1000");
}

/* The worst rows: the longest names and reasons, and numbers of a run of days. */
static void rows_are_bounded(void **state)
{
	enum { ALL = TIMES_MAX + 1000 };
	autoarena struct arena *a = arena_new_empty();
	struct sample s = sample(a, ALL);
	const struct tree *t, *rows;

	(void)state;
	for (size_t i = 0; i < ALL; i++) {
		struct run_outcome *o = &s.rep.outcomes[i];

		(void)err_fail(o->error, ERR_NET, 0, "%0200d", 7);
		o->start_ns += 5000 * DUR_SEC;
		o->end_ns = o->start_ns + (int64_t)(i + 1) * 1000 * DUR_MS;
		o->waited_ns = 5000 * DUR_SEC;
	}
	t = times_tree(a, &s.rep, NULL);
	rows = tree_get(t, "times");
	assert_true(rows->n > TIMES_MAX / 4 && rows->n <= TIMES_MAX);
	assert_int_equal(strtol(tree_text(t, "timesLeftOut"), NULL, 10), ALL - rows->n);
	/* the shortest are left out */
	assert_string_equal(rows->items[rows->n - 1].value->items[TIMES_TASK].value->scalar,
			    arena_printf(a, "file /etc/kubernetes/000000000...%030d", ALL - 1));
	assert_true(strlen(render(a, rows)) <= rows->n * TIMES_ROW);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_row_has_lane_times_and_what_it_waited_for),
		cmocka_unit_test(an_asset_that_waited_for_no_server_was_hashed),
		cmocka_unit_test(a_run_that_changed_nothing_has_few_rows),
		cmocka_unit_test(rows_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
