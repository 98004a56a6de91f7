/* Holds each mode to what its commands promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/base/mem.h"
#include "nodeup/config/policy.h"

static void each_mode_may_do_what_its_commands_promise(void **state)
{
	static const struct {
		bool changes, replays, makes_node, has_machine;
	} modes[] = {
		[MODE_LOOK] = { false, true, true, true },
		[MODE_GUARD] = { false, true, true, true },
		[MODE_CHECK] = { false, true, true, true },
		[MODE_APPLY] = { true, true, true, true },
		[MODE_INSTALL] = { true, false, true, true },
		[MODE_BAKE] = { true, false, false, true },
		[MODE_DIFF] = { false, false, true, false },
		[MODE_VALIDATE] = { false, false, false, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		const struct policy p = { .mode = i };

		assert_int_equal(policy_may_change(&p), modes[i].changes);
		assert_int_equal(policy_is_of_node(&p), modes[i].replays);
		assert_int_equal(policy_makes_node(&p), modes[i].makes_node);
		assert_int_equal(policy_has_machine(&p), modes[i].has_machine);
	}
}

/* Files below a root are a machine to compare with. */
static void documents_are_compared_below_a_root(void **state)
{
	const struct policy p = { .mode = MODE_DIFF, .image_mode = true };

	(void)state;
	assert_true(policy_has_machine(&p));
	assert_false(policy_is_of_node(&p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_mode_may_do_what_its_commands_promise),
		cmocka_unit_test(documents_are_compared_below_a_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
