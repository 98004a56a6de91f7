#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "nodeup/base/dur.h"
#include "tests/unit/fetch_box.h"

enum { AGENTS = 100, TOKENS_PER_S = 50 };

struct agent {
	struct cache *cache;
	struct fetcher *f;
	int64_t next_try_ns; /* the first that it named; 0 none */
};

static int by_time(const void *a, const void *b)
{
	const struct agent *x = a, *y = b;

	return (x->next_try_ns > y->next_try_ns) - (x->next_try_ns < y->next_try_ns);
}

/* Note when each agent that was turned away means to come again. */
static void watch(struct agent *agents, const struct asset *as, struct verdict *v)
{
	const struct timespec nap = { .tv_nsec = 1000 * 1000 };
	int calls = 0;

	while (calls < AGENTS) {
		for (size_t i = 0; i < AGENTS; i++) {
			struct fetch_status st;

			if (agents[i].next_try_ns == 0 && fetch_status(agents[i].f, as, &st))
				agents[i].next_try_ns = st.next_try_ns;
		}
		(void)nanosleep(&nap, NULL);
		(void)pthread_mutex_lock(&v->lock);
		calls = v->calls;
		(void)pthread_mutex_unlock(&v->lock);
	}
}

/* All at once against a server that serves so many a second and says SlowDown to the others: all get
 * it, and those that were turned away together do not come again together. */
static void test_a_hundred_agents(void **state)
{
	struct box *x = *state;
	struct asset as =
		box_asset_at(x, arena_printf(x->a, "/agents/k?bucket=%d", TOKENS_PER_S), NULL);
	struct agent *agents = xcalloc(AGENTS, sizeof(*agents));
	struct verdict v = VERDICT_INIT;
	size_t turned_away = 0, apart = 0;
	struct err e;

	box_be_patient(x);
	for (size_t i = 0; i < AGENTS; i++) {
		const char *dir = arena_printf(x->a, "/cache-%zu", i);

		assert_int_equal(cache_new(x->root_fd, dir, true, &agents[i].cache, &e), 0);
		assert_int_equal(fetch_new(x->http, agents[i].cache, &agents[i].f, &e), 0);
	}
	for (size_t i = 0; i < AGENTS; i++)
		fetch_start(agents[i].f, &as, box_on_done, &v);
	watch(agents, &as, &v);
	for (size_t i = 0; i < AGENTS; i++) {
		assert_true(cache_has(agents[i].cache, &as.digest));
		fetch_free(agents[i].f);
		cache_free(agents[i].cache);
	}
	assert_int_equal(box_sent_of(x, "/agents/k"), AGENTS * SIZE);
	qsort(agents, AGENTS, sizeof(*agents), by_time);
	for (size_t i = 0; i < AGENTS; i++) {
		turned_away += agents[i].next_try_ns > 0;
		apart += i > 0 && agents[i - 1].next_try_ns > 0 &&
			 agents[i].next_try_ns - agents[i - 1].next_try_ns > DUR_MS / 100;
	}
	assert_true(turned_away == 0 || apart + 1 >= turned_away * 3 / 4);
	assert_in_range(box_count_of(x, "/agents/k"), AGENTS, 9 * AGENTS);
	free(agents);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, box_setup, box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(test_a_hundred_agents) };

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
