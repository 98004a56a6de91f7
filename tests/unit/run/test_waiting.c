#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/log.h"
#include "nodeup/run/waiting.h"

static char logged[4096];

static int keep_line(enum log_level level, const char *message, const struct log_field *fields,
		     size_t n)
{
	size_t len = strlen(logged);

	(void)fields;
	(void)n;
	(void)snprintf(logged + len, sizeof(logged) - len, "%d %s\n", (int)level, message);
	return 0;
}

static int set_up(void **state)
{
	*state = waits_new();
	log_set_writer(keep_line);
	logged[0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	log_set_writer(NULL);
	waits_free(*state);
	return 0;
}

static void the_same_is_said_once_a_minute(void **state)
{
	struct waits *w = *state;

	assert_true(waits_due(w, "lock", "held", DUR_SEC));
	assert_false(waits_due(w, "lock", "held", DUR_SEC));
	assert_false(waits_due(w, "lock", "held", 60 * DUR_SEC));
	assert_true(waits_due(w, "lock", "held", 61 * DUR_SEC));
	assert_false(waits_due(w, "lock", "held", 120 * DUR_SEC));
	/* its end is the end of the silence */
	waits_over(w);
	assert_true(waits_due(w, "lock", "held", 120 * DUR_SEC));
}

static void another_reason_is_said_at_once(void **state)
{
	struct waits *w = *state;

	assert_true(waits_due(w, "documents", "HTTP status 500", DUR_SEC));
	assert_true(waits_due(w, "documents", "HTTP status 503", 2 * DUR_SEC));
	/* two that take turns are two lines a minute */
	assert_false(waits_due(w, "documents", "HTTP status 500", 3 * DUR_SEC));
	assert_false(waits_due(w, "documents", "HTTP status 503", 4 * DUR_SEC));
	assert_true(waits_due(w, "documents", "HTTP status 500", 61 * DUR_SEC));
	assert_false(waits_due(w, "documents", "HTTP status 503", 61 * DUR_SEC));
	assert_true(waits_due(w, "volumes", "HTTP status 500", 62 * DUR_SEC));
}

static void amounts_are_no_reason(void **state)
{
	static const struct {
		const char *before, *after;
		bool differs;
	} cases[] = {
		{ "refused after 12 ms", "refused after 1.5 s", false },
		{ "no answer for 59 s", "no answer for 1 min 2 s, ever", true },
		{ "no answer for 59 s", "no answer for 1 min 2 s", false },
		{ "5 of 9 bytes, 1.0 MB", "77 of 90 bytes, 2.5 kB", false },
		{ "Connection timed out after 2009 milliseconds",
		  "Connection timed out after 2008 milliseconds", false },
		{ "timed out after 5001 milliseconds with 0 out of 9 bytes received",
		  "timed out after 5002 milliseconds with 7 out of 90 bytes received", false },
		{ "less than 1 byte in the last 20 seconds",
		  "less than 1 byte in the last 30 seconds", false },
		{ "2 secondsx", "3 secondsx", true },
		{ "the clock: 2026-11-23 03:59:59 UTC", "the clock: 2026-11-23 04:00:00 UTC",
		  false },
		{ "pid 12", "pid 13", true },
		{ "127.0.0.1:80: refused", "127.0.0.1:81: refused", true },
		{ "HTTP status 500 server", "HTTP status 501 server", true },
		{ "v1.8", "v1.9", true },
		{ "a12 s", "a13 s", true },
		{ "12 s", "", true },
	};
	struct waits *w = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		waits_over(w);
		assert_true(waits_due(w, "x", cases[i].before, DUR_SEC));
		if (waits_due(w, "x", cases[i].after, DUR_SEC) != cases[i].differs)
			fail_msg("%s | %s", cases[i].before, cases[i].after);
	}
}

static void a_reason_without_an_end_is_cut(void **state)
{
	static char longest[8 * ERR_MSG_MAX];
	struct waits *w = *state;

	memset(longest, 'x', sizeof(longest) - 1);
	assert_true(waits_due(w, longest, longest, DUR_SEC));
	assert_false(waits_due(w, longest, longest, DUR_SEC));
	for (size_t i = 0; i + 4 < sizeof(longest); i += 4)
		memcpy(longest + i, "7 s,", 4);
	assert_true(waits_due(w, "x", longest, DUR_SEC));
	assert_false(waits_due(w, "x", longest, DUR_SEC));
}

static void what_is_told(void **state)
{
	struct waits *w = *state;
	struct wait wait = { .what = "documents",
			     .since_ns = dur_now() - 90 * DUR_SEC,
			     .attempt = 4 };
	struct err e;

	(void)err_fail(&e, ERR_NET, 0, "no such host");
	err_note(&e, "next", "mend the name server");
	wait.reason = e.msg;
	wait.why = &e;
	waits_tell(w, &wait);
	assert_string_equal(logged, "1 WAITING documents: for 1 min 30 s, attempt 4: no such host\n"
				    "1   next      mend the name server\n");
	waits_tell(w, &wait);
	logged[0] = '\0';
	wait = (struct wait){
		.what = "lock", .reason = "held", .since_ns = dur_now(), .expected = true
	};
	waits_tell(w, &wait);
	assert_string_equal(logged, "2 WAITING lock: held\n");
	logged[0] = '\0';
	wait.reason = "held by another";
	wait.since_ns -= 5 * DUR_SEC;
	waits_tell(w, &wait);
	assert_string_equal(logged, "2 WAITING lock: for 5.0 s: held by another\n");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(the_same_is_said_once_a_minute),
		T(another_reason_is_said_at_once),
		T(amounts_are_no_reason),
		T(a_reason_without_an_end_is_cut),
		T(what_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
