#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nodeup/documents/bootstrap.h"
#include "nodeup/join/keys.h"
#include "tests/unit/lib/scratch.h"

/* A state store that refuses would have them made in vain at each try. */
static void what_was_begun_for_a_try_that_failed_is_there_for_the_next(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	const struct join_keys_listener listener = { 0 };
	struct join_keys *begun, *kept;
	const struct policy policy = { .mode = MODE_APPLY };
	struct bootstrap_req req = { .policy = &policy,
				     .conf = "/no/such/kube_env.yaml",
				     .keys = &kept };
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	req.root_fd = root.fd;
	assert_int_equal(join_keys_new(&listener, &begun, &e), 0);
	join_keys_begin(begun, 1);
	kept = begun;
	for (int tries = 0; tries < 2; tries++) {
		struct bootstrap b = { 0 };

		assert_true(bootstrap_load(a, &req, &b, &e) < 0);
		assert_ptr_equal(kept, begun);
	}
	join_keys_free(kept);
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_begun_for_a_try_that_failed_is_there_for_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
