#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/io.h"
#include "nodeup/base/paths.h"
#include "nodeup/run/drift.h"
#include "nodeup/run/lock.h"
#include "tests/unit/lib/scratch.h"

/* The status of a run that ended so many seconds ago. */
static void write_status(const struct scratch *root, int ago)
{
	autofree char *text = xasprintf("{\"schema\": 1, \"state\": \"ready\", \"startedUnix\": "
					"%lld, \"elapsedMs\": 5000}",
					(long long)(dur_wall() / DUR_SEC - ago - 5));

	scratch_write(root, OWN_STATUS, text);
}

static void check_hindrance(const struct scratch *root, const char *why)
{
	autoarena struct arena *a = arena_new_empty();
	const char *found = drift_hindrance(a, root->fd);

	if (why ? !found || !strstr(found, why) : found != NULL)
		fail_msg("'%s' instead of '%s'", found ? found : "none", why ? why : "none");
}

static void a_record_is_read_as_it_was_kept(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct drift kept = { .at_ns = INT64_C(1700000000123) * DUR_MS, .n = 3 }, found;
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	strv_add(a, &kept.stopped, "kubelet.service 1");
	assert_int_equal(drift_keep(root.fd, &kept, &e), 0);
	drift_last(a, root.fd, &found);
	assert_int_equal(found.at_ns, kept.at_ns);
	assert_int_equal(found.n, 3);
	assert_int_equal(found.stopped.n, 1);
	assert_string_equal(found.stopped.v[0], "kubelet.service 1");
	scratch_done(&root);
}

static void a_damaged_record_is_none(void **state)
{
	static const char *const texts[] = { "", "{", "[]",
					     "{\"lookUnixMs\": -4, \"stopped\": 3}" };
	autoarena struct arena *a = arena_new_empty();
	struct scratch root;
	struct drift found;

	(void)state;
	scratch_new(&root);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		scratch_write(&root, OWN_DRIFT, texts[i]);
		drift_last(a, root.fd, &found);
		assert_int_equal(found.at_ns, 0);
		assert_int_equal(found.stopped.n, 0);
	}
	scratch_done(&root);
}

static void it_looks_ten_minutes_after_a_run(void **state)
{
	struct scratch root;

	(void)state;
	scratch_new(&root);
	check_hindrance(&root, "no run since the machine started");
	write_status(&root, 2);
	check_hindrance(&root, "a run ended ");
	write_status(&root, 300);
	check_hindrance(&root, "a run ended ");
	write_status(&root, 601);
	check_hindrance(&root, NULL);
	/* the clock was set back */
	write_status(&root, -100);
	check_hindrance(&root, NULL);
	scratch_write(&root, OWN_STATUS, "{");
	check_hindrance(&root, NULL);
	scratch_done(&root);
}

static void it_does_not_look_beside_a_run(void **state)
{
	struct scratch root;
	struct err e;
	int lock;

	(void)state;
	scratch_new(&root);
	write_status(&root, 3600);
	assert_int_equal(lock_take(root.fd, NULL, &lock, &e), 0);
	check_hindrance(&root, "another nodeup is at work");
	assert_int_equal(close(lock), 0);
	check_hindrance(&root, NULL);
	scratch_done(&root);
}

static void a_hold_ends_by_itself(void **state)
{
	struct scratch root;
	struct err e;

	(void)state;
	scratch_new(&root);
	write_status(&root, 3600);
	assert_int_equal(drift_hold(root.fd, dur_wall() + 60 * DUR_SEC, &e), 0);
	check_hindrance(&root, "held until ");
	assert_true(drift_held_until(root.fd) > dur_wall());
	assert_int_equal(drift_hold(root.fd, dur_wall() - DUR_SEC, &e), 0);
	check_hindrance(&root, NULL);
	scratch_write(&root, OWN_HELD, "for ever\n");
	check_hindrance(&root, NULL);
	scratch_done(&root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_record_is_read_as_it_was_kept),
		cmocka_unit_test(a_damaged_record_is_none),
		cmocka_unit_test(it_looks_ten_minutes_after_a_run),
		cmocka_unit_test(it_does_not_look_beside_a_run),
		cmocka_unit_test(a_hold_ends_by_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
