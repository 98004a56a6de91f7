/* The pause before another try. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/base/dur.h"
#include "nodeup/base/wait.h"

/* The most of many pauses after that many tries. */
static int64_t longest(unsigned int attempt)
{
	int64_t most = 0;

	for (int i = 0; i < 2000; i++) {
		const int64_t ns = wait_delay(attempt);

		assert_true(ns >= 0);
		most = ns > most ? ns : most;
	}
	return most;
}

static void pauses_double_up_to_a_bound(void **state)
{
	static const struct {
		unsigned int attempt;
		int64_t most_ms;
	} cases[] = {
		{ 0, 200 },  { 1, 200 },  { 2, 400 },  { 3, 800 },
		{ 5, 3200 }, { 6, 5000 }, { 7, 5000 }, { UINT32_MAX, 5000 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const int64_t most = longest(cases[i].attempt), bound = cases[i].most_ms * DUR_MS;

		/* of 2000 throws the highest is in the upper tenth, but once in 10^91 */
		if (most > bound || most < bound / 10 * 9)
			fail_msg("attempt %u: %lld ns", cases[i].attempt, (long long)most);
	}
}

static void a_moment_is_waited_for(void **state)
{
	const int64_t due = dur_now() + 3 * DUR_MS;

	(void)state;
	wait_until(due);
	assert_true(dur_now() >= due);
	/* one that is past is not */
	wait_until(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pauses_double_up_to_a_bound),
		cmocka_unit_test(a_moment_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
