/* Errands on other threads: their order, their end, and their signals. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include "nodeup/base/pool.h"

enum { ERRANDS = 200 };

static struct pool *pool;
static int order[ERRANDS];
static size_t n_done;
static atomic_size_t n_called;
static sem_t gate;

static int set_up(void **state)
{
	(void)state;
	n_done = 0;
	atomic_store(&n_called, 0);
	return sem_init(&gate, 0, 0);
}

static int tear_down(void **state)
{
	(void)state;
	return sem_destroy(&gate);
}

static void note_order(void *arg)
{
	order[n_done++] = (int)(intptr_t)arg;
}

/* One thread does one thing after another, and the end waits for all of them. */
static void errands_are_done_in_order(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(pool_new(1, 1, &pool, &e), 0);
	for (int i = 0; i < ERRANDS; i++)
		pool_send(pool, note_order, (void *)(intptr_t)i);
	pool_free(pool);
	assert_int_equal(n_done, ERRANDS);
	for (int i = 0; i < ERRANDS; i++)
		assert_int_equal(order[i], i);
}

static void count_call(void *arg)
{
	(void)arg;
	atomic_fetch_add(&n_called, 1);
}

static void send_more(void *arg)
{
	count_call(arg);
	pool_send(pool, count_call, NULL);
}

static void an_errand_may_send_others(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(pool_new(2, 4, &pool, &e), 0);
	for (int i = 0; i < ERRANDS; i++)
		pool_send(pool, send_more, NULL);
	pool_free(pool);
	assert_int_equal(atomic_load(&n_called), 2 * ERRANDS);
}

static void wait_for_other(void *arg)
{
	(void)arg;
	(void)sem_wait(&gate);
	atomic_fetch_add(&n_called, 1);
}

static void open_gate(void *arg)
{
	(void)arg;
	(void)sem_post(&gate);
}

/* With one thread this test would not end. */
static void at_least_so_many_threads_work(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(pool_new(2, 2, &pool, &e), 0);
	pool_send(pool, wait_for_other, NULL);
	pool_send(pool, open_gate, NULL);
	pool_free(pool);
	assert_int_equal(atomic_load(&n_called), 1);
}

static size_t count_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	size_t n = 0;

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n;
}

/* Each thread costs some system calls, and a run may have nothing to do for it. */
static void threads_start_when_they_are_needed(void **state)
{
	const size_t before = count_threads();
	struct err e;

	(void)state;
	assert_int_equal(pool_new(8, 8, &pool, &e), 0);
	assert_int_equal(count_threads(), before + 1);
	for (int i = 0; i < 3; i++)
		pool_send(pool, wait_for_other, NULL);
	assert_int_equal(count_threads(), before + 3);
	for (int i = 0; i < 3; i++)
		(void)sem_post(&gate);
	pool_free(pool);
	assert_int_equal(atomic_load(&n_called), 3);
}

static void note_mask(void *arg)
{
	sigset_t now;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &now);
	*(bool *)arg = sigismember(&now, SIGTERM) == 1 && sigismember(&now, SIGPIPE) == 1;
}

static void no_signal_reaches_the_threads(void **state)
{
	bool closed = false;
	sigset_t own;
	struct err e;

	(void)state;
	assert_int_equal(pool_new(1, 1, &pool, &e), 0);
	pool_send(pool, note_mask, &closed);
	pool_free(pool);
	assert_true(closed);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &own);
	assert_int_equal(sigismember(&own, SIGTERM), 0);
}

#define pooled(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		pooled(errands_are_done_in_order),     pooled(an_errand_may_send_others),
		pooled(at_least_so_many_threads_work), pooled(threads_start_when_they_are_needed),
		pooled(no_signal_reaches_the_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
