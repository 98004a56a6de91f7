#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/base/map.h"

static void what_is_put_in_is_found(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct map m = { 0 };
	int values[1000];

	(void)state;
	assert_null(map_get(&m, "none"));
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		const char *key = arena_printf(a, "/etc/many/%zu", i);

		assert_null(map_get(&m, key));
		assert_ptr_equal(map_put(a, &m, key, &values[i]), &values[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		assert_ptr_equal(map_get(&m, arena_printf(a, "/etc/many/%zu", i)), &values[i]);
	assert_null(map_get(&m, "/etc/many/1000"));
	assert_int_equal(m.n, 1000);
}

static void the_first_counts(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct map m = { 0 };
	int first, second;

	(void)state;
	assert_ptr_equal(map_put(a, &m, "", &first), &first);
	assert_ptr_equal(map_put(a, &m, "", &second), &first);
	assert_ptr_equal(map_get(&m, ""), &first);
	assert_int_equal(m.n, 1);
}

/* Keys that differ in their last characters alone lie apart: looking for one takes a few steps. */
static void keys_are_spread(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct map m = { 0 };
	size_t run = 0, longest = 0;
	int value;

	(void)state;
	for (size_t i = 0; i < 30000; i++)
		(void)map_put(a, &m, arena_printf(a, "f%zu", i), &value);
	for (size_t i = 0; i < m.size; i++) {
		run = m.slots[i].key ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	assert_true(longest < 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_put_in_is_found),
		cmocka_unit_test(the_first_counts),
		cmocka_unit_test(keys_are_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
