#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/err.h"

static void failing_is_one_line(void **state)
{
	struct err e = { .nnotes = 3 };

	(void)state;
	assert_int_equal(err_fail(&e, ERR_NET, ETIMEDOUT, "get %s", "x"), -ETIMEDOUT);
	assert_int_equal(e.kind, ERR_NET);
	assert_int_equal(e.errnum, ETIMEDOUT);
	assert_int_equal(e.nnotes, 0);
	assert_string_equal(e.msg, "get x");
	assert_int_equal(err_fail(&e, ERR_INTEGRITY, 0, "bad"), -EINVAL);
	assert_int_equal(e.errnum, 0);
	assert_int_equal(err_config(&e, "f:1:2: x"), -EINVAL);
	assert_int_equal(e.kind, ERR_CONFIG);
}

static void system_calls_tell_their_errno(void **state)
{
	struct err e = { 0 };

	(void)state;
	errno = ENOENT;
	assert_int_equal(err_sys(&e, "open '%s'", "/x"), -ENOENT);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_string_equal(e.msg, "open '/x': No such file or directory");
}

static void context_goes_in_front(void **state)
{
	struct err e = { 0 };

	(void)state;
	(void)err_fail(&e, ERR_BUSY, EAGAIN, "locked");
	err_note(&e, "next", "try %d", 2);
	assert_int_equal(err_wrap(&e, "asset %s", "kubelet"), -EAGAIN);
	assert_int_equal(err_wrap(&e, "run"), -EAGAIN);
	assert_string_equal(e.msg, "run: asset kubelet: locked");
	assert_int_equal(e.kind, ERR_BUSY);
	assert_int_equal(e.nnotes, 1);
	assert_string_equal(e.notes[0].label, "next");
	assert_string_equal(e.notes[0].text, "try 2");
}

/* Whatever the lengths: the cause is whole, the context is cut. */
static void the_cause_is_never_cut(void **state)
{
	char cause[ERR_MSG_MAX], context[ERR_MSG_MAX];

	(void)state;
	for (size_t n = 1; n < ERR_MSG_MAX; n += 7) {
		struct err e = { 0 };

		memset(cause, 'c', n);
		cause[n] = '\0';
		memset(context, 'x', ERR_MSG_MAX - 1);
		context[ERR_MSG_MAX - 1] = '\0';
		(void)err_fail(&e, ERR_NET, 0, "%s", cause);
		(void)err_wrap(&e, "%s", context);
		assert_true(strlen(e.msg) < ERR_MSG_MAX);
		assert_string_equal(e.msg + strlen(e.msg) - n, cause);
		if (n < 900)
			assert_int_equal(e.msg[0], 'x');
	}
}

static void errno_text_survives_a_long_message(void **state)
{
	char text[2 * ERR_MSG_MAX];
	struct err e = { 0 };

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	errno = ENOSPC;
	(void)err_sys(&e, "write '%s'", text);
	assert_string_equal(e.msg + strlen(e.msg) - strlen("x: No space left on device"),
			    "x: No space left on device");
}

static void notes_are_bounded(void **state)
{
	struct err e = { 0 };
	char text[2 * ERR_NOTE_MAX];

	(void)state;
	memset(text, 'n', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < ERR_NOTES + 3; i++)
		err_note(&e, "a label that is too long", "%s", text);
	assert_int_equal(e.nnotes, ERR_NOTES);
	assert_string_equal(e.notes[7].text, "...");
	assert_string_equal(e.notes[0].label, "a label that is");
	text[ERR_NOTE_MAX - 8] = ' ';
	e.nnotes = 0;
	err_note(&e, "got", "%s", text);
	assert_int_equal(strlen(e.notes[0].text), ERR_NOTE_MAX - 4);
	assert_string_equal(e.notes[0].text + ERR_NOTE_MAX - 9, "n ...");
}

/* The documented exit statuses, and which kinds a task tries again. */
static void more_goes_behind_and_the_cause_stays(void **state)
{
	char longer[2 * ERR_MSG_MAX];
	struct err e;

	(void)state;
	(void)err_fail(&e, ERR_SYSTEM, ENOSPC, "write 'a': full");
	err_cause(&e, "no room on %s", "/var");
	err_add(&e, "%d of %d are free", 0, 9);
	(void)err_wrap(&e, "asset b");
	assert_string_equal(e.msg, "asset b: write 'a': full, 0 of 9 are free");
	assert_string_equal(e.cause, "no room on /var");
	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	err_add(&e, "%s", longer);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	err_add(&e, "%s", longer);
	assert_int_equal(strlen(e.msg), sizeof(e.msg) - 1);
	err_cause(&e, "%s", longer);
	assert_int_equal(strlen(e.cause), sizeof(e.cause) - 1);
	/* of the next failure nothing is known yet */
	(void)err_fail(&e, ERR_NET, 0, "gone");
	assert_string_equal(e.cause, "");
	assert_int_equal(e.room.size, 0);
}

static void kinds(void **state)
{
	static const struct {
		enum err_kind kind;
		const char *name;
		int status, transient;
	} rows[] = {
		{ ERR_NONE, "NONE", 0, 0 },      { ERR_USAGE, "USAGE", 64, 0 },
		{ ERR_CONFIG, "CONFIG", 78, 0 }, { ERR_REFUSED, "REFUSED", 73, 0 },
		{ ERR_NET, "NET", 69, 1 },       { ERR_BUSY, "BUSY", 75, 1 },
		{ ERR_SYSTEM, "SYSTEM", 71, 1 }, { ERR_INTEGRITY, "INTEGRITY", 65, 0 },
	};

	(void)state;
	assert_int_equal(sizeof(rows) / sizeof(rows[0]), ERR_KIND_MAX);
	for (size_t i = 0; i < ERR_KIND_MAX; i++) {
		const struct err e = { .kind = rows[i].kind };

		assert_string_equal(err_kind_name(rows[i].kind), rows[i].name);
		assert_int_equal(err_exit_status(&e), rows[i].status);
		assert_int_equal(err_is_transient(&e), rows[i].transient);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(failing_is_one_line),
		cmocka_unit_test(system_calls_tell_their_errno),
		cmocka_unit_test(context_goes_in_front),
		cmocka_unit_test(the_cause_is_never_cut),
		cmocka_unit_test(errno_text_survives_a_long_message),
		cmocka_unit_test(notes_are_bounded),
		cmocka_unit_test(more_goes_behind_and_the_cause_stays),
		cmocka_unit_test(kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
