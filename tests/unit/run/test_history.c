#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "nodeup/base/paths.h"
#include "nodeup/run/history.h"
#include "tests/unit/lib/scratch.h"

/* What a process wrote that began then and changed this task; task NULL: none. */
static void write_status(const struct scratch *root, int pid, int began, const char *task,
			 const char *state)
{
	static int64_t number;
	static int of;
	autoarena struct arena *a = arena_new_empty();
	const char *tasks =
		task ? arena_printf(
			       a,
			       "{\"kind\": \"file\", \"name\": \"%s\", \"state\": \"changed\", "
			       "\"why\": \"missing\"}",
			       task)
		     : "";

	/* a process has one number in all its runs */
	if (began != of)
		number = history_last(root->fd) + 1;
	of = began;
	scratch_write(root, OWN_STATUS,
		      arena_printf(a,
				   "{\"schema\": 1, \"state\": \"%s\", \"pid\": %d, "
				   "\"number\": %lld, \"startedUnix\": %d, \"tasks\": [%s]}",
				   state, pid, (long long)number, began, tasks));
}

static void keep_as(const struct scratch *root, int began, const char *task, const char *state)
{
	struct err e;

	write_status(root, getpid(), began, task, state);
	if (history_keep(root->fd, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

static void keep(const struct scratch *root, int began, const char *task)
{
	keep_as(root, began, task, "ready");
}

static struct tree *list(struct arena *a, const struct scratch *root)
{
	struct tree *runs;
	struct err e;

	if (history_list(a, root->fd, &runs, &e) < 0)
		fail_msg("%s", e.msg);
	return runs;
}

static const char *text_of_run(const struct tree *runs, size_t i, const char *key)
{
	assert_true(i < runs->n);
	return tree_text(runs->items[i].value, key);
}

static void a_machine_without_runs_has_an_empty_list(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	assert_int_equal(list(a, &root)->n, 0);
	/* nothing was said, so nothing is kept */
	assert_int_equal(history_keep(root.fd, NULL, &e), 0);
	assert_int_equal(list(a, &root)->n, 0);
	scratch_done(&root);
}

static void the_newest_is_first_and_the_oldest_is_forgotten(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct tree *runs;

	(void)state;
	scratch_new(&root);
	for (int i = 0; i < HISTORY_MAX + 2; i++)
		keep(&root, 999999990 + i, NULL);
	runs = list(a, &root);
	assert_int_equal(runs->n, HISTORY_MAX);
	/* also where the number gets another digit */
	assert_string_equal(text_of_run(runs, 0, "startedUnix"), "1000000091");
	assert_string_equal(text_of_run(runs, HISTORY_MAX - 1, "startedUnix"), "999999992");
	assert_int_equal(scratch_count(&root, OWN_RUNS_DIR), HISTORY_MAX);
	scratch_done(&root);
}

/* Who made a node is asked for long after, and each repair of a right one is a run. */
static void runs_that_changed_nothing_are_forgotten_first(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct tree *runs;

	(void)state;
	scratch_new(&root);
	keep(&root, 1000, "/first");
	for (int i = 1; i <= 2 * HISTORY_MAX; i++)
		keep(&root, 1000 + i, i == 150 ? "/later" : NULL);
	runs = list(a, &root);
	assert_int_equal(runs->n, HISTORY_MAX);
	assert_string_equal(text_of_run(runs, 0, "startedUnix"), "1200");
	assert_string_equal(text_of_run(runs, 50, "startedUnix"), "1150");
	assert_string_equal(text_of_run(runs, HISTORY_MAX - 2, "startedUnix"), "1102");
	assert_string_equal(text_of_run(runs, HISTORY_MAX - 1, "startedUnix"), "1000");
	/* where all have changed something the oldest goes, and never the last one */
	for (int i = 0; i < HISTORY_MAX; i++)
		keep(&root, 2000 + i, "/again");
	keep(&root, 3000, NULL);
	runs = list(a, &root);
	assert_int_equal(runs->n, HISTORY_MAX);
	assert_string_equal(text_of_run(runs, 0, "startedUnix"), "3000");
	assert_string_equal(text_of_run(runs, HISTORY_MAX - 1, "startedUnix"), "2001");
	/* nor one that failed, nor the last one where the clock went back */
	keep_as(&root, 3001, NULL, "failed");
	keep(&root, 3002, NULL);
	keep(&root, 10, NULL);
	runs = list(a, &root);
	assert_string_equal(text_of_run(runs, 0, "startedUnix"), "3001");
	assert_string_equal(text_of_run(runs, HISTORY_MAX - 1, "startedUnix"), "10");
	scratch_done(&root);
}

/* By its number they are asked for, and status --runs says which that is. */
static void a_run_whose_documents_are_kept_is_not_forgotten(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct tree *runs;

	(void)state;
	scratch_new(&root);
	scratch_write(&root, OWN_KEPT_DIR "/1.json", "{}");
	scratch_write(&root, OWN_KEPT_DIR "/3.json", "{}");
	for (int i = 1; i <= 2 * HISTORY_MAX; i++)
		keep(&root, 1000 + i, i == 3 ? "/changed" : NULL);
	for (int i = 0; i < HISTORY_MAX; i++)
		keep(&root, 2000 + i, "/again");
	runs = list(a, &root);
	assert_int_equal(runs->n, HISTORY_MAX);
	assert_string_equal(text_of_run(runs, HISTORY_MAX - 1, "number"), "1");
	assert_string_equal(text_of_run(runs, HISTORY_MAX - 2, "number"), "3");
	assert_string_equal(text_of_run(runs, HISTORY_MAX - 3, "startedUnix"), "2002");
	scratch_done(&root);
}

/* They are no places in the list: what is kept of a run is called by its number. */
static void numbers_go_on(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	assert_int_equal(history_last(root.fd), 0);
	keep(&root, 1000, NULL);
	/* also while the clock is behind */
	keep(&root, 500, NULL);
	assert_int_equal(history_last(root.fd), 2);
	for (int i = 0; i < HISTORY_MAX; i++)
		keep(&root, 1001 + i, NULL);
	/* an older nodeup gave none */
	scratch_write(&root, OWN_RUNS_DIR "/000000002000-7.json", "{\"state\": \"ready\"}");
	assert_int_equal(history_last(root.fd), HISTORY_MAX + 2);
	assert_string_equal(text_of_run(list(a, &root), 1, "number"), "102");
	/* or had it only in the record */
	scratch_write(&root, OWN_RUNS_DIR "/000000001500-7.json", "{\"number\": 500}");
	assert_int_equal(history_last(root.fd), 500);
	assert_int_equal(history_forget(root.fd, &e), 0);
	assert_int_equal(history_last(root.fd), 0);
	scratch_done(&root);
}

/* The times of a run, so large that few of them have room beside each other. */
static void keep_times(const struct scratch *root, int began)
{
	autoarena struct arena *a = arena_new_empty();
	struct tree *times = tree_map(a), *rows = tree_seq(a);
	struct err e;

	(void)tree_add(a, rows, tree_string(a, arena_printf(a, "%0300000d", began)));
	tree_set_some(a, times, "times", rows);
	write_status(root, getpid(), began, "/task", "ready");
	if (history_keep(root->fd, times, &e) < 0)
		fail_msg("%s", e.msg);
}

static void the_times_of_the_oldest_are_forgotten(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct tree *runs;

	(void)state;
	scratch_new(&root);
	for (int i = 0; i < 7; i++)
		keep_times(&root, 1000 + i);
	runs = list(a, &root);
	assert_int_equal(runs->n, 7);
	for (size_t i = 0; i < 7; i++) {
		const struct tree *run = runs->items[i].value;

		/* nothing else of them is */
		assert_int_equal(tree_get(run, "changed")->n, 1);
		assert_true(!tree_get(run, "times") == (i >= 3));
		if (i >= 3)
			assert_string_equal(tree_text(run, "timesLeftOut"), "1");
	}
	scratch_done(&root);
}

static void a_clock_that_was_set_back_takes_no_times(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct tree *runs;

	(void)state;
	scratch_new(&root);
	for (int i = 0; i < 4; i++)
		keep_times(&root, i < 3 ? 2000 + i : 1000);
	runs = list(a, &root);
	assert_int_equal(runs->n, 4);
	/* that run's name is the first one */
	assert_string_equal(tree_text(runs->items[3].value, "startedUnix"), "1000");
	assert_non_null(tree_get(runs->items[3].value, "times"));
	assert_null(tree_get(runs->items[2].value, "times"));
	scratch_done(&root);
}

static void what_is_broken_is_passed_over(void **state)
{
	static const char *const texts[] = { "", "{", "[]", "\xff" };
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct tree *runs;

	(void)state;
	scratch_new(&root);
	keep(&root, 1000, NULL);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		scratch_write(&root, arena_printf(a, OWN_RUNS_DIR "/00000000200%zu-7.json", i),
			      texts[i]);
	runs = list(a, &root);
	assert_int_equal(runs->n, 1);
	assert_string_equal(text_of_run(runs, 0, "startedUnix"), "1000");
	scratch_done(&root);
}

static void the_word_of_another_process_is_not_kept(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	write_status(&root, getppid(), 1000, NULL, "ready");
	assert_int_equal(history_keep(root.fd, NULL, &e), 0);
	assert_int_equal(list(a, &root)->n, 0);
	scratch_done(&root);
}

static void all_that_one_process_changed_stays_listed_once(void **state)
{
	static const char *const tasks[] = { "/a", "/b", "/a" };
	autoarena struct arena *a = arena_new_empty();
	const struct tree *changed;
	struct scratch root;
	struct tree *runs;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(tasks); i++)
		keep(&root, 1000, tasks[i]);
	runs = list(a, &root);
	assert_int_equal(runs->n, 1);
	changed = tree_get(runs->items[0].value, "changed");
	assert_non_null(changed);
	assert_int_equal(changed->n, 2);
	assert_string_equal(tree_text(changed->items[0].value, "task"), "file /a");
	assert_string_equal(tree_text(changed->items[1].value, "task"), "file /b");
	scratch_done(&root);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_machine_without_runs_has_an_empty_list),
		cmocka_unit_test(the_newest_is_first_and_the_oldest_is_forgotten),
		cmocka_unit_test(runs_that_changed_nothing_are_forgotten_first),
		cmocka_unit_test(a_run_whose_documents_are_kept_is_not_forgotten),
		cmocka_unit_test(numbers_go_on),
		cmocka_unit_test(the_times_of_the_oldest_are_forgotten),
		cmocka_unit_test(a_clock_that_was_set_back_takes_no_times),
		cmocka_unit_test(what_is_broken_is_passed_over),
		cmocka_unit_test(the_word_of_another_process_is_not_kept),
		cmocka_unit_test(all_that_one_process_changed_stays_listed_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
