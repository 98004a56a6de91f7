/* Threads stand for tasks, and each cache that is opened for a process. What they meet by chance they are given many chances for. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/tree.h"
#include "tests/unit/lib/cache_box.h"

enum { ROUNDS = 20, MEMBERS = 60 };

/* What a thread does beside the test. */
struct beside {
	struct cache_box *box;
	struct cache *cache;
	struct asset archive;
	atomic_bool begun;
	int r;
};

static pthread_t begin(void *(*does)(void *), struct beside *b)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, does, b), 0);
	while (!atomic_load(&b->begun))
		(void)sched_yield();
	return thread;
}

static void end(pthread_t thread)
{
	assert_int_equal(pthread_join(thread, NULL), 0);
}

static struct beside beside(struct cache_box *box, int round)
{
	return (struct beside){
		.box = box,
		.cache = box->cache,
		.archive = cache_box_archive(box, round, MEMBERS),
	};
}

static void *unpack_all(void *arg)
{
	struct beside *b = arg;
	struct err e;

	atomic_store(&b->begun, true);
	b->r = cache_unpack(b->cache, &b->archive, &e);
	return NULL;
}

static struct asset hello_of(struct cache_box *box, const struct asset *archive)
{
	struct asset some = *archive;

	some.members = arena_new(box->a, struct strv);
	*some.members = (struct strv){ 0 };
	strv_add(box->a, some.members, "hello");
	return some;
}

/* Of two processes that want more of it both have it in the end. */
static void two_processes_want_more(void **state)
{
	struct cache_box *box = *state;

	for (int round = 0; round < ROUNDS; round++) {
		struct beside b = beside(box, round);
		struct asset some = hello_of(box, &b.archive);
		pthread_t thread;

		assert_int_equal(cache_unpack(box->cache, &some, &box->e), 0);
		assert_int_equal(cache_settle(box->cache, &box->e), 0);
		b.cache = cache_box_open(box);
		thread = begin(unpack_all, &b);
		assert_int_equal(cache_unpack(box->cache, &b.archive, &box->e), 0);
		end(thread);
		assert_int_equal(b.r, 0);
		assert_true(cache_has_tree(b.cache, &b.archive));
		assert_true(cache_has_tree(box->cache, &b.archive));
		cache_free(b.cache);
	}
}

/* What a process knows of a tree says nothing of the one that another process has put in its place. */
static void another_process_made_it_anew(void **state)
{
	struct cache_box *box = *state;
	struct asset all = cache_box_archive(box, 0, 5), some = hello_of(box, &all);
	struct cache *other = cache_box_open(box);

	assert_int_equal(cache_unpack(box->cache, &some, &box->e), 0);
	assert_int_equal(cache_settle(box->cache, &box->e), 0);
	assert_false(cache_tree_is_wrong(other, &all));
	assert_int_equal(cache_unpack(box->cache, &all, &box->e), 0);
	assert_false(cache_tree_is_wrong(other, &all));
	assert_true(cache_has_tree(box->cache, &all));
	cache_free(other);
}

/* A bake has unpacked all, and is not at its end yet. */
static void another_process_wants_less(void **state)
{
	struct cache_box *box = *state;
	struct asset all = cache_box_archive(box, 0, 5), some = hello_of(box, &all);
	struct cache *other = cache_box_open(box);

	assert_int_equal(cache_unpack(box->cache, &all, &box->e), 0);
	assert_int_equal(cache_unpack(other, &some, &box->e), 0);
	assert_true(cache_has_tree(other, &some));
	assert_true(cache_has_tree(box->cache, &all));
	assert_int_equal(cache_settle(other, &box->e), 0);
	assert_int_equal(cache_settle(box->cache, &box->e), 0);
	cache_free(other);
	other = cache_box_open(box);
	assert_true(cache_has_tree(other, &all));
	cache_free(other);
}

#define T(f) cmocka_unit_test_setup_teardown(f, cache_box_setup, cache_box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(two_processes_want_more),
		T(another_process_made_it_anew),
		T(another_process_wants_less),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
