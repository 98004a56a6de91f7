#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/quantity.h"

/* As Go's AsDec().String() has them. */
static void amounts_are_plain_numbers(void **state)
{
	static const struct {
		const char *text, *number;
	} rows[] = {
		{ "0", "0" },
		{ "5", "5" },
		{ "500m", "0.500" },
		{ "1500m", "1.500" },
		{ "20m", "0.020" },
		{ "0.5", "0.5" },
		{ "+0.1", "0.1" },
		{ "-250m", "-0.250" },
		{ "1u", "0.000001" },
		{ "3n", "0.000000003" },
		{ "2k", "2000" },
		{ "1.5k", "1500" },
		{ "1.2345k", "1234.5" },
		{ "3M", "3000000" },
		{ "1e3", "1000" },
		{ "12E-1", "1.2" },
		{ "1E", "1000000000000000000" },
		{ "1Ki", "1024" },
		{ "64Mi", "67108864" },
		{ "1.5Ki", "1536.0" },
		{ "9Ei", "10376293541461622784" },
		{ "007", "7" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(quantity_decimal(a, rows[i].text), rows[i].number);
}

static void what_is_too_long_stays(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	char digits[256];

	(void)state;
	memset(digits, '9', sizeof(digits) - 1);
	digits[sizeof(digits) - 1] = '\0';
	assert_string_equal(quantity_decimal(a, digits), digits);
	assert_string_equal(quantity_decimal(a, "1e999"), "1e999");
	digits[199] = '\0';
	assert_string_equal(quantity_decimal(a, digits), digits);
	memcpy(digits + 199, "Ei", sizeof("Ei"));
	assert_string_equal(quantity_decimal(a, digits), digits);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(amounts_are_plain_numbers),
		cmocka_unit_test(what_is_too_long_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
