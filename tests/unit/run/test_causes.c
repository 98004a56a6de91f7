#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/json.h"
#include "nodeup/run/causes.h"
#include "nodeup/run/report.h"
#include "nodeup/tasks/kinds.h"

enum { TASKS = 12 };

/* A report of files /a, /b and so on, all right until a test says otherwise. */
struct sample {
	struct arena *arena;
	struct task tasks[TASKS];
	struct run_outcome outcomes[TASKS];
	struct err errors[TASKS];
	struct run_report rep;
	int64_t now;
	struct err e;
};

static int set_up(void **state)
{
	struct arena *a = arena_new_empty();
	struct sample *s = arena_new(a, struct sample);

	s->arena = a;
	s->rep = (struct run_report){ .outcomes = s->outcomes, .n = TASKS, .first_failed = TASKS };
	for (size_t i = 0; i < TASKS; i++) {
		s->tasks[i] = (struct task){ .kind = TASK_FILE,
					     .ops = &task_file_ops,
					     .name = arena_printf(a, "/%c", 'a' + (char)i),
					     .index = i };
		s->outcomes[i] = (struct run_outcome){ .task = &s->tasks[i],
						       .error = &s->errors[i],
						       .state = RUN_EQUAL };
	}
	*state = s;
	return 0;
}

static int tear_down(void **state)
{
	struct sample *s = *state;

	arena_free(s->arena);
	return 0;
}

/* Task i failed, later than all that failed before; the caller words why. */
static struct err *fails(struct sample *s, size_t i)
{
	s->outcomes[i].state = RUN_FAILED;
	s->outcomes[i].end_ns = ++s->now;
	if (s->rep.first_failed == TASKS && !s->tasks[i].optional)
		s->rep.first_failed = i;
	return &s->errors[i];
}

static void has_no_room(struct sample *s, size_t i, uint64_t wanted)
{
	struct err *e = fails(s, i);

	(void)err_fail(e, ERR_SYSTEM, ENOSPC, "write '%s': full", s->tasks[i].name);
	err_cause(e, "no room on /var");
	e->room = (struct err_room){ .wanted = wanted, .free = 1 << 20, .size = 20 << 20 };
}

static void is_skipped(struct sample *s, size_t i, size_t because)
{
	s->outcomes[i].state = RUN_SKIPPED;
	s->outcomes[i].because = &s->tasks[because];
}

static const struct err *told(struct sample *s)
{
	s->e = s->errors[s->rep.first_failed];
	assert_int_equal(causes_tell(&s->rep, &s->e), err_code(&s->e));
	return &s->e;
}

static void has_note(const struct err *e, size_t i, const char *label, const char *text)
{
	assert_true(i < e->nnotes);
	assert_string_equal(e->notes[i].label, label);
	assert_string_equal(e->notes[i].text, text);
}

static void a_single_failure_is_told_as_it_is(void **state)
{
	struct sample *s = *state;
	const struct err *e;

	(void)err_fail(fails(s, 1), ERR_INTEGRITY, 0, "wrong content");
	err_note(&s->errors[1], "got", "sha1 9c");
	e = told(s);
	assert_string_equal(e->msg, "file /b: wrong content");
	assert_int_equal(e->nnotes, 1);
	has_note(e, 0, "got", "sha1 9c");
	assert_int_equal(e->kind, ERR_INTEGRITY);
}

static void many_tasks_and_one_full_disk_are_one_cause(void **state)
{
	struct sample *s = *state;
	const struct err *e;

	for (size_t i = 9; i > 3; i--)
		has_no_room(s, i, 1 << 20);
	is_skipped(s, 10, 9);
	is_skipped(s, 11, 4);
	e = told(s);
	assert_string_equal(
		e->msg, "no room on /var: at least 5 MiB are missing, 1 MiB of 20 MiB are free: "
			"6 tasks failed, 2 more for want of them");
	assert_int_equal(e->kind, ERR_SYSTEM);
	assert_int_equal(e->errnum, ENOSPC);
	assert_int_equal(e->nnotes, 4);
	has_note(e, 0, "failed", "file /e, file /f, file /g, file /h, and 2 more");
	has_note(e, 1, "first", "file /j: write '/j': full");
	has_note(e, 2, "do", "free what df -h and df -i /j show to be used up, then nodeup repair");
	has_note(e, 3, "held", "file /k, file /l");
}

static void what_the_kernel_refused_has_a_next_command(void **state)
{
	static const struct {
		int errnum;
		const char *text;
	} rows[] = {
		{ EPERM, "chattr -i what lsattr -d /b shows to be immutable, then nodeup repair" },
		{ EROFS,
		  "mount -o remount,rw what df /b names, as dmesg says why, then nodeup repair" },
		{ ENOSPC, "free what df -h and df -i /b show to be used up, then nodeup repair" },
	};
	struct sample *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		errno = rows[i].errnum;
		(void)err_sys(i == 0 ? fails(s, 1) : &s->errors[1], "rename into '/b'");
		has_note(told(s), 0, "do", rows[i].text);
	}
	/* an error's own word goes before it, and one of ours borrows a number */
	err_note(&s->errors[1], "do", "a larger disk");
	assert_int_equal(told(s)->nnotes, 1);
	(void)err_fail(&s->errors[1], ERR_SYSTEM, EPERM, "it is masked");
	assert_int_equal(told(s)->nnotes, 0);
}

/* As one message of many tasks, it is still what no retry mends. */
static void what_lasts_of_one_task_lasts_of_many(void **state)
{
	struct sample *s = *state;

	has_no_room(s, 1, 1 << 20);
	has_no_room(s, 2, 1 << 20);
	assert_false(told(s)->lasts);
	s->errors[1].lasts = true;
	assert_true(told(s)->lasts);
}

/* The call that makes a folder does not say on which disk. */
static void a_full_disk_without_a_name_is_the_one_that_has_one(void **state)
{
	struct sample *s = *state;

	(void)err_fail(fails(s, 0), ERR_SYSTEM, ENOSPC, "make '/a': No space left on device");
	has_no_room(s, 1, 3 << 20);
	assert_string_equal(
		told(s)->msg,
		"no room on /var: at least 2 MiB are missing, 1 MiB of 20 MiB are free: "
		"2 tasks failed");
}

static void what_all_of_the_machine_meets_is_one_cause(void **state)
{
	struct sample *s = *state;
	const struct err *e;

	for (size_t i = 0; i < 2; i++)
		(void)err_fail(fails(s, i), ERR_SYSTEM, EROFS, "write '%s': Read-only file system",
			       s->tasks[i].name);
	/* that there is no such file is the trouble of each of them */
	for (size_t i = 2; i < 4; i++)
		(void)err_fail(fails(s, i), ERR_SYSTEM, ENOENT, "open '%s'", s->tasks[i].name);
	e = told(s);
	assert_string_equal(e->msg, "Read-only file system: 2 tasks failed");
	has_note(e, 2, "do",
		 "mount -o remount,rw what df /a names, as dmesg says why, then nodeup repair");
	has_note(e, 3, "also", "file /c: open '/c'");
	has_note(e, 4, "also", "file /d: open '/d'");
	assert_int_equal(e->nnotes, 5);
}

static void the_first_failure_decides_though_it_is_not_the_first_task(void **state)
{
	struct sample *s = *state;
	const struct err *e;

	(void)err_fail(fails(s, 7), ERR_NET, EPIPE, "short body");
	has_no_room(s, 0, 2 << 20);
	has_no_room(s, 1, 2 << 20);
	e = told(s);
	assert_string_equal(e->msg, "file /h: short body");
	assert_int_equal(e->kind, ERR_NET);
	has_note(e, 0, "also",
		 "no room on /var: at least 3 MiB are missing, 1 MiB of 20 MiB are free: 2 tasks "
		 "failed: file /a, file /b");
}

static void more_causes_than_notes_are_counted(void **state)
{
	struct sample *s = *state;
	const struct err *e;

	for (size_t i = 0; i < TASKS; i++)
		(void)err_fail(fails(s, i), ERR_CONFIG, 0, "reason %zu", i);
	e = told(s);
	assert_int_equal(e->nnotes, ERR_NOTES);
	has_note(e, 6, "also", "file /h: reason 7");
	has_note(e, 7, "also", "4 more causes, see above");
}

/* An archive that may be missing is the cause as soon as something misses it. */
static void what_is_not_needed_is_a_cause_only_if_it_is_missed(void **state)
{
	struct sample *s = *state;
	struct causes causes;

	s->tasks[0].optional = s->tasks[1].optional = true;
	(void)err_fail(fails(s, 0), ERR_NET, 0, "gone");
	(void)err_fail(fails(s, 1), ERR_NET, 0, "lost");
	(void)err_fail(fails(s, 2), ERR_NET, 0, "file /b: lost");
	s->outcomes[2].because = &s->tasks[1];
	causes = causes_find(s->arena, &s->rep);
	assert_int_equal(causes.n, 1);
	assert_string_equal(causes.v[0].name, "lost");
	assert_int_equal(causes.v[0].n_hit, 1);
	assert_ptr_equal(causes.v[0].held[0], &s->outcomes[2]);
	assert_string_equal(told(s)->msg, "file /c: file /b: lost");
}

static void programs_get_all_names_and_bytes(void **state)
{
	autobuf struct buf text = BUF_INIT(1 << 16);
	struct sample *s = *state;
	struct err e;

	has_no_room(s, 0, 3 << 20);
	has_no_room(s, 1, 1 << 20);
	is_skipped(s, 2, 0);
	assert_int_equal(json_render(report_causes(s->arena, &s->rep), false, &text, &e), 0);
	assert_string_equal(
		buf_str(&text),
		"[{\"cause\":\"no room on /var\",\"kind\":\"SYSTEM\",\"exitStatus\":71,"
		"\"message\":\"write '/a': full\",\"failed\":2,\"tasks\":[\"file /a\",\"file /b\"],"
		"\"held\":[\"file /c\"],\"room\":{\"wantedBytes\":4194304,\"freeBytes\":1048576,"
		"\"sizeBytes\":20971520}}]");
}

#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

/* What a unit did is the unit's, whatever number its error has. */
static void an_error_of_ours_is_not_the_machines(void **state)
{
	struct sample *s = *state;
	struct causes causes;

	for (size_t i = 0; i < 2; i++)
		(void)err_fail(fails(s, i), ERR_SYSTEM, EIO, "its start job failed (%zu)", i);
	(void)err_fail(fails(s, 2), ERR_SYSTEM, EIO, "read '/c': Input/output error");
	(void)err_fail(fails(s, 3), ERR_SYSTEM, EIO, "read '/d': Input/output error");
	causes = causes_find(s->arena, &s->rep);
	assert_int_equal(causes.n, 3);
	assert_string_equal(causes.v[0].name, "its start job failed (0)");
	assert_string_equal(causes.v[1].name, "its start job failed (1)");
	assert_string_equal(causes.v[2].name, "Input/output error");
	assert_int_equal(causes.v[2].n_hit, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_single_failure_is_told_as_it_is),
		T(many_tasks_and_one_full_disk_are_one_cause),
		T(what_the_kernel_refused_has_a_next_command),
		T(what_lasts_of_one_task_lasts_of_many),
		T(a_full_disk_without_a_name_is_the_one_that_has_one),
		T(what_all_of_the_machine_meets_is_one_cause),
		T(the_first_failure_decides_though_it_is_not_the_first_task),
		T(more_causes_than_notes_are_counted),
		T(what_is_not_needed_is_a_cause_only_if_it_is_missed),
		T(programs_get_all_names_and_bytes),
		T(an_error_of_ours_is_not_the_machines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
