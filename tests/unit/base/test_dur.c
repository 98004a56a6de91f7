#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/dur.h"

/* What Go 1.9's Duration.String prints, and reads back. */
static void as_go_writes(void **state)
{
	static const struct {
		int64_t ns;
		const char *text;
	} rows[] = {
		{ 0, "0s" },
		{ 1, "1ns" },
		{ 999, "999ns" },
		{ 1100, "1.1\302\265s" },
		{ 2 * DUR_MS + 200000, "2.2ms" },
		{ 999999999, "999.999999ms" },
		{ 3 * DUR_SEC + 300 * DUR_MS, "3.3s" },
		{ 60 * DUR_SEC, "1m0s" },
		{ 4 * 60 * DUR_SEC + 5 * DUR_SEC + DUR_MS, "4m5.001s" },
		{ 3600 * DUR_SEC, "1h0m0s" },
		{ 5 * 3600 * DUR_SEC + 6 * 60 * DUR_SEC + 7 * DUR_SEC + 1, "5h6m7.000000001s" },
		{ -90 * DUR_SEC, "-1m30s" },
		{ -1, "-1ns" },
		{ 100 * 3600 * DUR_SEC, "100h0m0s" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = { 0 };
		int64_t back = 42;

		assert_string_equal(dur_render(a, rows[i].ns), rows[i].text);
		if (dur_parse(rows[i].text, &back, &e) < 0)
			fail_msg("%s: %s", rows[i].text, e.msg);
		if (back != rows[i].ns)
			fail_msg("%s reads back as %lld ns", rows[i].text, (long long)back);
	}
	assert_string_equal(dur_render(a, INT64_MAX), "2562047h47m16.854775807s");
	assert_string_equal(dur_render(a, INT64_MIN), "-2562047h47m16.854775808s");
}

static void as_people_write(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} rows[] = {
		{ "0", 0 },
		{ "-0", 0 },
		{ "+5s", 5 * DUR_SEC },
		{ "1.5h", 5400 * DUR_SEC },
		{ ".5s", 500 * DUR_MS },
		{ "1.s", DUR_SEC },
		{ "2h45m", 9900 * DUR_SEC },
		{ "1us", 1000 },
		{ "1\316\274s", 1000 },
		{ "1s1ms1us1ns", DUR_SEC + DUR_MS + 1001 },
		{ "0.000000001s", 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = { 0 };
		int64_t ns = 42;

		if (dur_parse(rows[i].text, &ns, &e) < 0)
			fail_msg("%s", e.msg);
		if (ns != rows[i].ns)
			fail_msg("%s is %lld ns", rows[i].text, (long long)ns);
	}
}

static void refusals(void **state)
{
	static const char *const bad[] = { "",    "-",    "s",    "5",        "1x",   "1.2.3s",
					   "1d",  "0x1s", "1e3s", " 1s",      "1s ",  "inf",
					   "1 s", ".s",   "--1s", "3000000h", "nans", "+" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err e = { 0 };
		int64_t ns = 42;

		if (dur_parse(bad[i], &ns, &e) >= 0)
			fail_msg("accepted '%s' as %lld ns", bad[i], (long long)ns);
		assert_int_equal(ns, 42);
		assert_int_equal(e.kind, ERR_CONFIG);
	}
}

static void to_the_last_nanosecond(void **state)
{
	int64_t ns;
	struct err e;

	(void)state;
	assert_int_equal(dur_parse("2562047h47m16.854775807s", &ns, &e), 0);
	assert_true(ns == INT64_MAX);
	assert_int_equal(dur_parse("-2562047h47m16.854775808s", &ns, &e), 0);
	assert_true(ns == INT64_MIN);
	assert_int_equal(dur_parse("2540400h1ns", &ns, &e), 0);
	assert_true(ns == INT64_C(2540400) * 3600 * DUR_SEC + 1);
	assert_int_equal(dur_parse("1.0000000019999999999999999s", &ns, &e), 0);
	assert_true(ns == DUR_SEC + 1);
	assert_true(dur_parse("2562047h47m16.854775808s", &ns, &e) < 0);
	assert_true(dur_parse("-2562047h47m16.854775809s", &ns, &e) < 0);
	assert_true(dur_parse("2562048h", &ns, &e) < 0);
	assert_true(dur_parse("9223372036854775808ns", &ns, &e) < 0);
	assert_true(dur_parse("18446744073709551617ns", &ns, &e) < 0);
	assert_true(dur_parse("9223372036854775807ns1ns", &ns, &e) < 0);
}

static void for_people(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(dur_human(a, 21 * DUR_MS), "21 ms");
	assert_string_equal(dur_human(a, 2900 * DUR_MS), "2.9 s");
	assert_string_equal(dur_human(a, 252 * DUR_SEC), "4 min 12 s");
	assert_string_equal(dur_human(a, 0), "0 ms");
}

static void the_clock_goes_forward(void **state)
{
	const int64_t before = dur_now();

	(void)state;
	assert_true(dur_now() >= before);
	/* later than 2020 */
	assert_true(dur_wall() > INT64_C(1577836800) * DUR_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_go_writes), cmocka_unit_test(as_people_write),
		cmocka_unit_test(refusals),     cmocka_unit_test(to_the_last_nanosecond),
		cmocka_unit_test(for_people),   cmocka_unit_test(the_clock_goes_forward),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
