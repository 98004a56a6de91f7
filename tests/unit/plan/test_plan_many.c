#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <time.h>
#include "nodeup/plan/plan.h"
#include "tests/unit/lib/seed.h"

/* What four times as much may take, of processor time: quadratic work takes sixteen times as long. */
enum { MOST = 9, ROUNDS = 3 };

static double processor_seconds(void)
{
	struct timespec t;

	assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void add_files(struct world *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct node_file file = {
			.path = arena_printf(w->a, "/etc/many/%zu", i),
			.content = "a",
			.len = 1,
			.mode = 0440,
		};

		arena_push(w->a, w->node.files.v, w->node.files.n, file);
	}
}

static void add_assets(struct world *w, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct node_text text = {
			.text = arena_printf(w->a, "%064zx@https://127.0.0.1/plain-%zu", i, i),
		};

		arena_push(w->a, w->node.assets.v, w->node.assets.n, text);
	}
}

/* The least of some rounds, as the machine may be busy. */
static double seconds_for(void (*add)(struct world *w, size_t n), size_t n, const char *only)
{
	double least = 1e9;

	for (int i = 0; i < ROUNDS; i++) {
		autoarena struct arena *a = arena_new_empty();
		struct world w = seed_world(a, false);
		struct plan_req req = seed_request(&w);
		struct plan p = { 0 };
		struct err e;
		double began;

		add(&w, n);
		req.only = only;
		began = processor_seconds();
		if (plan_build(a, &req, &p, &e) < 0)
			fail_msg("%s", e.msg);
		began = processor_seconds() - began;
		least = began < least ? began : least;
	}
	return least;
}

static void must_be_linear(void (*add)(struct world *w, size_t n), size_t n, const char *only)
{
	const double few = seconds_for(add, n, only), many = seconds_for(add, 4 * n, only);

	if (many > MOST * few)
		fail_msg("%zu take %.4f s, %zu take %.4f s", n, few, 4 * n, many);
}

static void files(void **state)
{
	(void)state;
	must_be_linear(add_files, 2000, NULL);
}

static void assets(void **state)
{
	(void)state;
	must_be_linear(add_assets, 2000, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files),
		cmocka_unit_test(assets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
