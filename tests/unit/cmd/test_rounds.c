#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>

#include "nodeup/cmd/rounds.h"

static const struct {
	const char *what;
	struct round_end end;
	enum err_kind kind;
	enum round next;
} cases[] = {
	{ "an error that stays", { .round = ROUND_FIRST, .retries = -1 }, ERR_CONFIG, ROUND_NONE },
	{ "no retries", { .round = ROUND_FIRST }, ERR_NET, ROUND_NONE },
	{ "a retry", { .round = ROUND_FIRST, .retries = 1 }, ERR_NET, ROUND_FIRST },
	{ "without a limit", { .round = ROUND_FIRST, .retries = -1 }, ERR_BUSY, ROUND_FIRST },
	{ "wrong bytes may be right ones later",
	  { .round = ROUND_FIRST, .retries = 1 },
	  ERR_INTEGRITY,
	  ROUND_FIRST },
	{ "the pause ends before the deadline",
	  { .round = ROUND_FIRST, .retries = 1, .now_ns = 5, .pause_ns = 2, .deadline_ns = 8 },
	  ERR_NET,
	  ROUND_FIRST },
	{ "the pause does not",
	  { .round = ROUND_FIRST, .retries = 1, .now_ns = 5, .pause_ns = 3, .deadline_ns = 8 },
	  ERR_NET,
	  ROUND_NONE },
	{ "files are lost", { ROUND_FIRST, .files_lost = true }, ERR_SYSTEM, ROUND_ANEW },
	{ "files are lost at the deadline",
	  { ROUND_FIRST, .files_lost = true, .now_ns = 8, .deadline_ns = 8 },
	  ERR_SYSTEM,
	  ROUND_NONE },
	{ "files are lost once more", { ROUND_ANEW, .files_lost = true }, ERR_SYSTEM, ROUND_NONE },
};

static void what_follows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct err e = { .kind = cases[i].kind };

		print_message("%s\n", cases[i].what);
		assert_int_equal(round_after(&cases[i].end, &e), cases[i].next);
	}
}

/* Whatever these runs come to, and however often the last of them is followed by one without a pause. */
static void check_rounds(enum round round, int runs)
{
	const struct err kinds[] = { { .kind = ERR_BUSY }, { .kind = ERR_CONFIG } };

	assert_in_range(runs, 1, 2);
	for (unsigned int how = 0; how < 4; how++) {
		const struct round_end end = { .round = round, .files_lost = how & 1 };
		const enum round next = round_after(&end, &kinds[how >> 1]);

		assert_int_not_equal(next, ROUND_FIRST);
		if (next != ROUND_NONE)
			check_rounds(next, runs + 1);
	}
}

static void a_refusal_is_of_a_document_or_of_this_host(void **state)
{
	static const enum err_kind others[] = { ERR_USAGE, ERR_REFUSED, ERR_NET, ERR_BUSY,
						ERR_INTEGRITY };
	const struct err config = { .kind = ERR_CONFIG }, system = { .kind = ERR_SYSTEM };
	const struct err clock = { .kind = ERR_BUSY, .errnum = ETIME };

	(void)state;
	assert_true(round_is_refused(false, &config) && round_is_refused(true, &config));
	assert_true(round_is_refused(false, &system));
	/* it was waited for, before anything was changed */
	assert_true(round_is_refused(false, &clock) && !round_is_refused(true, &clock));
	/* a service that does not start, say */
	assert_false(round_is_refused(true, &system));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const struct err e = { .kind = others[i] };

		assert_false(round_is_refused(false, &e) || round_is_refused(true, &e));
	}
}

static void it_ends(void **state)
{
	(void)state;
	check_rounds(ROUND_FIRST, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_follows),
		cmocka_unit_test(a_refusal_is_of_a_document_or_of_this_host),
		cmocka_unit_test(it_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
