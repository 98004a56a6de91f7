#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "nodeup/base/mem.h"
#include "nodeup/run/lock.h"
#include "tests/unit/lib/scratch.h"

static void the_second_one_hears_who_is_first(void **state)
{
	struct scratch root;
	struct err e = { 0 };
	autofree char *pid = xasprintf("pid %d,", (int)getpid());
	int first, second;

	(void)state;
	scratch_new(&root);
	assert_int_equal(lock_take(root.fd, "kops-configuration.service", &first, &e), 0);
	assert_int_equal(lock_take(root.fd, NULL, &second, &e), -EWOULDBLOCK);
	assert_int_equal(e.kind, ERR_BUSY);
	assert_non_null(strstr(e.msg, pid));
	assert_non_null(strstr(e.msg, "unit kops-configuration.service"));
	assert_int_equal(close(first), 0);
	assert_int_equal(lock_take(root.fd, NULL, &second, &e), 0);
	assert_int_equal(close(second), 0);
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_second_one_hears_who_is_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
