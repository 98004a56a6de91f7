#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/paths.h"
#include "nodeup/run/notice.h"
#include "nodeup/tasks/kinds.h"
#include "tests/unit/lib/scratch.h"

enum { TASKS = 15 };

static void a_status_without_an_error_is_one_line(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct status st = { .state = "running" };
	struct strv lines = notice_lines(a, &st);

	(void)state;
	assert_int_equal(lines.n, 1);
	assert_string_equal(lines.v[0],
			    "nodeup: WAITING the first run since the machine started; next: "
			    "nodeup status");
	st.waiting = "documents:\na store";
	assert_string_equal(notice_lines(a, &st).v[0],
			    "nodeup: WAITING documents:?a store; next: nodeup status");
}

static void a_refusal_says_what_was_started_all_the_same(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct status st = { .state = "degraded" };
	struct strv lines;
	struct err e;

	(void)state;
	(void)err_config(&e, "wrong");
	err_note(&e, NOTICE_STARTED, "kubelet.service");
	st.error = &e;
	lines = notice_lines(a, &st);
	assert_int_equal(lines.n, 2);
	assert_string_equal(lines.v[0], "nodeup: DEGRADED wrong (78); next: nodeup status");
	assert_string_equal(lines.v[1],
			    "nodeup: DEGRADED started kubelet.service; next: nodeup status");
}

/* Ten lines of fifteen causes, and each says what to do. */
static void more_causes_than_lines_are_counted(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct task *tasks = arena_alloc(a, TASKS * sizeof(*tasks));
	struct run_outcome *outcomes = arena_alloc(a, TASKS * sizeof(*outcomes));
	struct err *errors = arena_alloc(a, TASKS * sizeof(*errors));
	const struct run_report rep = { .outcomes = outcomes, .n = TASKS, .first_failed = 0 };
	const struct status st = { .state = "failed", .rep = &rep, .error = errors };
	struct strv lines;

	(void)state;
	for (size_t i = 0; i < TASKS; i++) {
		tasks[i] = (struct task){ .kind = TASK_FILE,
					  .ops = &task_file_ops,
					  .name = arena_printf(a, "/%c", 'a' + (char)i),
					  .index = i };
		outcomes[i] = (struct run_outcome){ .task = &tasks[i],
						    .error = &errors[i],
						    .end_ns = (int64_t)i + 1,
						    .state = RUN_FAILED };
		(void)err_fail(&errors[i], ERR_SYSTEM, 0, "boom %zu", i);
	}
	err_note(&errors[1], "do", "mend it");
	lines = notice_lines(a, &st);
	assert_int_equal(lines.n, NOTICE_LINES);
	assert_string_equal(lines.v[0], "nodeup: FAILED boom 0 (71); next: nodeup status");
	assert_string_equal(lines.v[1], "nodeup: FAILED file /b: boom 1 (71); next: mend it");
	assert_string_equal(lines.v[NOTICE_LINES - 1],
			    "nodeup: FAILED of 6 more causes; next: nodeup status --long");
}

static void what_is_read_at_logins_goes_when_nothing_is_left(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct status st = { .state = "running" };
	struct strv lines = notice_lines(a, &st);
	struct scratch root;
	autofree char *text = NULL;

	(void)state;
	scratch_new(&root);
	notice_motd(root.fd, &lines);
	text = scratch_read(&root, OWN_MOTD);
	assert_string_equal(text, arena_printf(a, "%s\n", lines.v[0]));
	for (int i = 0; i < 2; i++) {
		notice_motd(root.fd, &(struct strv){ 0 });
		assert_null(scratch_read(&root, OWN_MOTD));
	}
	/* no console: none is made */
	notice_console(root.fd, &lines);
	assert_int_equal(scratch_count(&root, "/dev"), 0);
	scratch_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_status_without_an_error_is_one_line),
		cmocka_unit_test(a_refusal_says_what_was_started_all_the_same),
		cmocka_unit_test(more_causes_than_lines_are_counted),
		cmocka_unit_test(what_is_read_at_logins_goes_when_nothing_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
