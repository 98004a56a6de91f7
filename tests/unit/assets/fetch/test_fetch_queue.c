#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/resource.h>
#include <time.h>
#include "assets/fetch/run.h"
#include "tests/unit/lib/fetch_box.h"

enum { ASSETS = 5 };

static const char *const paths[ASSETS] = { "/queue/0?hang", "/queue/1?hang", "/queue/2?hang",
					   "/queue/3?hang", "/queue/4?hang" };

static void wait_until_asked(struct box *x, const char *path)
{
	const struct timespec nap = { .tv_nsec = 5 * 1000 * 1000 };

	for (int i = 0; i < 12000; i++) {
		if (box_count_of(x, path) > 0)
			return;
		(void)nanosleep(&nap, NULL);
	}
	fail_msg("'%s' is not asked for", path);
}

/* Two at a time, in the order they came; one that is cancelled before its turn is never asked for. */
static void test_in_turn(void **state)
{
	struct box *x = *state;
	struct verdict v[ASSETS];
	struct asset as[ASSETS];

	box_be_patient(x);
	x->f->active_max = 2;
	for (int i = 0; i < ASSETS; i++) {
		v[i] = (struct verdict)VERDICT_INIT;
		as[i] = box_asset_at(x, paths[i], NULL);
		as[i].digest.bytes[0] ^= (uint8_t)(i + 1);
		fetch_start(x->f, &as[i], box_on_done, &v[i]);
	}
	wait_until_asked(x, "/queue/0");
	wait_until_asked(x, "/queue/1");
	fetch_cancel(x->f, &as[2]);
	box_wait_calls(&v[2], 1);
	assert_int_equal(v[2].cancelled, 1);
	fetch_cancel(x->f, &as[0]);
	wait_until_asked(x, "/queue/3");
	assert_int_equal(box_count_of(x, "/queue/2"), 0);
	assert_int_equal(box_count_of(x, "/queue/4"), 0);
	/* with one under way and one that waits */
	fetch_free(TAKE(x->f));
	for (int i = 0; i < ASSETS; i++)
		assert_int_equal(v[i].calls, 1);
}

/* The fewer descriptors, the fewer at a time; none is not an answer. */
static void test_by_the_limit(void **state)
{
	static const struct {
		rlim_t soft;
		size_t max;
	} cases[] = { { 32, 2 }, { 96, 4 }, { 1024, 120 }, { 1 << 20, 128 } };
	struct box *x = *state;
	struct rlimit was, now;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (was.rlim_max < cases[i].soft)
			continue;
		now = (struct rlimit){ cases[i].soft, was.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
		fetch_queue_init(x->f);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
		assert_int_equal(x->f->active_max, cases[i].max);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, box_setup, box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(test_in_turn), TEST(test_by_the_limit) };

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
