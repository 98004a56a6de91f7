#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/cmd/check.h"

#define AT(seconds) (INT64_C(seconds) * DUR_SEC)

static void a_clock_from_before_nodeup_is_wrong(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_true(check_clock(AT(0), &e) < 0);
	assert_string_equal(e.msg, "the clock says 1970-01-01 00:00:00 UTC");
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_int_equal(e.errnum, ETIME);
	assert_true(check_clock(AT(1735689599), &e) < 0);
	assert_string_equal(e.msg, "the clock says 2024-12-31 23:59:59 UTC");
	assert_int_equal(e.nnotes, 2);
	assert_non_null(strstr(e.notes[0].text, "2025-01-01 00:00:00 or later"));
	assert_non_null(strstr(e.notes[1].text, "timedatectl set-ntp true"));
}

static void a_clock_of_today_is_right(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(check_clock(AT(1735689600), &e), 0);
	assert_int_equal(check_clock(AT(4102444800), &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_clock_from_before_nodeup_is_wrong),
		cmocka_unit_test(a_clock_of_today_is_right),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
