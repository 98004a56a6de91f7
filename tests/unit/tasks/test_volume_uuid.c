#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/tasks/volume_uuid.h"

static void is_a_uuid(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const char *u = volume_uuid(a, "i-0a1b", "/mnt/disks");

	(void)state;
	assert_int_equal(strlen(u), 36);
	assert_int_equal(strspn(u, "0123456789abcdef-"), 36);
	assert_int_equal(u[14], '5');
	assert_non_null(strchr("89ab", u[19]));
}

/* Recorded on disks: it must never change between versions of the program. */
static void stays_the_same_for_ever(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(volume_uuid(a, "i-0a1b", "/mnt/disks"),
			    "bf790a4b-361d-5f6c-9fcb-853dc34dca3c");
}

static void tells_owners_and_names_apart(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const char *u = volume_uuid(a, "i-0a1b", "/mnt/disks");

	(void)state;
	assert_string_not_equal(u, volume_uuid(a, "i-0a1c", "/mnt/disks"));
	assert_string_not_equal(u, volume_uuid(a, "i-0a1b", "/mnt/disk"));
	assert_string_not_equal(volume_uuid(a, "ab", "c"), volume_uuid(a, "a", "bc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_a_uuid),
		cmocka_unit_test(stays_the_same_for_ever),
		cmocka_unit_test(tells_owners_and_names_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
