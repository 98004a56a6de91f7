#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/dur.h"
#include "nodeup/base/print.h"
#include "nodeup/join/keys.h"

/* More than there are threads, so that some are waited for. */
enum { N = 24 };

struct heard {
	size_t times;
	char last[64];
};

static void hear(void *arg, const struct wait *w)
{
	struct heard *h = arg;

	assert_string_equal(w->what, "keys");
	assert_true(w->works && w->expected && w->since_ns <= dur_now());
	h->times++;
	(void)print_to(h->last, sizeof(h->last), "%s", w->reason);
}

static struct heard make(int64_t after_ns)
{
	autoarena struct arena *a = arena_new_empty();
	struct heard h = { 0 };
	const struct join_keys_listener listener = { .after_ns = after_ns, .fn = hear, .arg = &h };
	struct join_keys *k;
	struct err e;

	assert_int_equal(join_keys_new(&listener, &k, &e), 0);
	join_keys_begin(k, 3);
	join_keys_begin(k, N);
	/* of an earlier try */
	join_keys_begin(k, 1);
	for (int i = 0; i < N; i++) {
		const char *private, *public;

		assert_int_equal(join_keys_take(k, a, &private, &public, &e), 0);
		assert_non_null(strstr(private, "PRIVATE KEY"));
	}
	join_keys_free(k);
	return h;
}

/* On a slow machine they take minutes. */
static void who_waits_for_keys_is_told_how_many_there_are(void **state)
{
	struct heard h = make(0);

	(void)state;
	assert_true(h.times > 0);
	assert_non_null(strstr(h.last, " of 24 are made"));
	h = make(600 * DUR_SEC);
	assert_int_equal(h.times, 0);
}

static void take(struct join_keys *k, struct arena *a, size_t n, const char **ret)
{
	struct err e;

	for (size_t i = 0; i < n; i++) {
		const char *public;

		assert_int_equal(join_keys_take(k, a, &ret[i], &public, &e), 0);
	}
}

/* However often a node is refused: it makes no more of them, and tells of no more. */
static void keys_of_a_try_that_failed_are_those_of_the_next(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct heard h = { 0 };
	const struct join_keys_listener listener = { .fn = hear, .arg = &h };
	const char *first[3], *second[3];
	struct join_keys *k;
	struct err e;

	(void)state;
	assert_int_equal(join_keys_new(&listener, &k, &e), 0);
	join_keys_begin(k, 2);
	take(k, a, 2, first);
	join_keys_give_back(k);
	join_keys_begin(k, 3);
	take(k, a, 3, second);
	join_keys_free(k);
	assert_string_equal(first[0], second[0]);
	assert_string_equal(first[1], second[1]);
	assert_string_not_equal(second[1], second[2]);
	assert_non_null(strstr(h.last, " of 3 are made"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_waits_for_keys_is_told_how_many_there_are),
		cmocka_unit_test(keys_of_a_try_that_failed_are_those_of_the_next),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
