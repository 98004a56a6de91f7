#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/documents/dialects.h"

static struct strv there;

static bool is_there(const char *path)
{
	return strv_has(&there, path);
}

#define KOPS "/opt/kops/conf/kube_env.yaml"
#define OURS "/var/cache/kubernetes-install/kube_env.yaml"
#define KUBE_UP "/etc/kubernetes/kube_env.yaml"

static void the_one_that_is_there_is_taken(void **state)
{
	static const char *const places[] = { KOPS, OURS, KUBE_UP };
	struct err e = { 0 };
	const char *found;

	(void)state;
	there = (struct strv){ 0 };
	assert_int_equal(dialects_find(is_there, &found, &e), 0);
	assert_null(found);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		const char *one[] = { places[i] };

		there = (struct strv){ one, 1 };
		assert_int_equal(dialects_find(is_there, &found, &e), 0);
		assert_string_equal(found, places[i]);
	}
}

static void two_are_an_error_that_names_both(void **state)
{
	static const char *const pairs[][2] = { { KOPS, KUBE_UP },
						{ OURS, KUBE_UP },
						{ KOPS, OURS } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		const char *two[] = { pairs[i][0], pairs[i][1] };
		struct err e = { 0 };
		const char *found = NULL;

		there = (struct strv){ two, 2 };
		assert_true(dialects_find(is_there, &found, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_non_null(strstr(e.msg, pairs[i][0]));
		assert_non_null(strstr(e.msg, pairs[i][1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_that_is_there_is_taken),
		cmocka_unit_test(two_are_an_error_that_names_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
