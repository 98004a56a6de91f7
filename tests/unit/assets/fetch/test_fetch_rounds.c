#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include "assets/fetch/job.h"
#include "nodeup/base/dur.h"

/* A job with two mirrors, of which nothing moves but time: every mirror is asked, and fails. */
struct rounds {
	struct fetcher f;
	struct fetch_mirror mirrors[2];
	struct fetch_job j;
	struct fetch_errs errs;
};

static int setup(void **state)
{
	struct rounds *x = xcalloc(1, sizeof(*x));

	(void)pthread_mutex_init(&x->f.lock, NULL);
	x->j = (struct fetch_job){ .fetcher = &x->f, .mirrors = x->mirrors, .nmirrors = 2 };
	x->j.errs = &x->errs;
	for (size_t i = 0; i < 2; i++)
		x->mirrors[i] = (struct fetch_mirror){ .limit = SIZE_MAX };
	fetch_job_restart(&x->j);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct rounds *x = *state;

	(void)pthread_mutex_destroy(&x->f.lock);
	free(x);
	return 0;
}

static void fails(struct rounds *x, size_t mirror, int status, int64_t retry_after_ns)
{
	const struct http_result res = { .status = status, .retry_after_ns = retry_after_ns };
	struct err e;

	(void)err_fail(&e, ERR_NET, EAGAIN, "HTTP status %d", status);
	fetch_job_asked(&x->j, mirror);
	fetch_mirror_failed(&x->j, mirror, &e, &res);
}

static int64_t end_round(struct rounds *x, uint32_t random)
{
	return fetch_job_end_round(&x->j, dur_now(), random);
}

/* Those that fail at once are asked three times, the second and the third time at any moment up to a
 * limit that doubles. */
static void test_three_rounds(void **state)
{
	struct rounds *x = *state;

	for (int round = 0; round < 2; round++) {
		fails(x, 0, 500, -1);
		fails(x, 1, 404, -1);
		assert_int_equal(end_round(x, UINT32_MAX), (DUR_SEC / 5) << round);
		assert_true(fetch_job_may_ask(&x->j, 0, dur_now()));
	}
	fails(x, 0, 500, -1);
	fails(x, 1, 404, -1);
	assert_int_equal(end_round(x, UINT32_MAX), -1);
	assert_int_equal(x->j.attempt, 6);
}

static void test_jitter_is_full(void **state)
{
	struct rounds *x = *state;

	fails(x, 0, 500, -1);
	fails(x, 1, 500, -1);
	assert_int_equal(end_round(x, 0), 0);
	fails(x, 0, 500, -1);
	fails(x, 1, 500, -1);
	assert_in_range(end_round(x, UINT32_MAX / 2), DUR_SEC / 5 - 1, DUR_SEC / 5);
}

/* Where too many come it does not help to come again soon; but three rounds are three rounds. */
static void test_too_many(void **state)
{
	struct rounds *x = *state;

	for (int round = 0; round < 2; round++) {
		fails(x, 0, round ? 429 : 503, -1);
		fails(x, 1, 404, -1);
		assert_int_equal(end_round(x, UINT32_MAX), 5 * DUR_SEC);
	}
	fails(x, 0, 503, -1);
	fails(x, 1, 404, -1);
	assert_int_equal(end_round(x, UINT32_MAX), -1);
}

static void test_progress_begins_anew(void **state)
{
	struct rounds *x = *state;

	for (int round = 0; round < 10; round++) {
		fails(x, 0, 500, -1);
		fails(x, 1, 500, -1);
		x->j.best += round % 3 == 0;
		assert_true(end_round(x, 0) >= 0);
	}
}

/* Of several connections to the only mirror one fails: the others' end is not waited for, and there are
 * fewer for a while, whether it says that it has too many or not. */
static void test_one_connection_of_several(void **state)
{
	static const int statuses[] = { 206, 500, 503 };
	struct rounds *x = *state;
	struct fetch_mirror *m = &x->mirrors[0];

	x->j.nmirrors = 1;
	for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
		m->active = 3;
		m->limit = SIZE_MAX;
		fails(x, 0, statuses[i], -1);
		assert_true(fetch_job_may_ask(&x->j, 0, dur_now()));
		assert_int_equal(m->limit, 3);
		for (int n = 0; n < 3 + 4; n++)
			fetch_mirror_came(&x->j, 0);
		assert_int_equal(m->limit, 5);
	}
	m->active = 0;
	fails(x, 0, 206, -1);
	assert_false(fetch_job_may_ask(&x->j, 0, dur_now()));
}

/* One that has not got it says so of all; and where there is another mirror that one is asked. */
static void test_one_connection_is_enough(void **state)
{
	struct rounds *x = *state;

	x->mirrors[0].active = 3;
	fails(x, 0, 206, -1);
	assert_false(fetch_job_may_ask(&x->j, 0, dur_now()));
	x->j.nmirrors = 1;
	fetch_job_all_again(&x->j);
	fails(x, 0, 404, -1);
	assert_false(fetch_job_may_ask(&x->j, 0, dur_now()));
}

/* After a round of dropped connections there may be as many as before; not so where fewer are wanted. */
static void test_limit_of_the_next_round(void **state)
{
	struct rounds *x = *state;
	struct fetch_mirror *m = &x->mirrors[0];

	x->j.nmirrors = 1;
	for (int throttled = 0; throttled < 2; throttled++) {
		m->active = 1;
		fails(x, 0, throttled ? 503 : 206, -1);
		m->active = 0;
		fails(x, 0, 206, -1);
		assert_int_equal(m->limit, 1);
		assert_true(end_round(x, 0) >= 0);
		assert_true(m->limit == (throttled ? 1 : SIZE_MAX));
	}
}

/* All want to be left alone: so they are, till the first of them may be asked, and not once in between. */
static void test_retry_after_of_all(void **state)
{
	struct rounds *x = *state;
	int64_t now = dur_now(), delay;

	fails(x, 0, 503, 600 * DUR_SEC);
	fails(x, 1, 429, 3600 * DUR_SEC);
	delay = end_round(x, 0);
	/* a busy machine may have taken its time since */
	assert_in_range(delay, 500 * DUR_SEC, 600 * DUR_SEC);
	assert_false(fetch_job_may_ask(&x->j, 0, now + 599 * DUR_SEC));
	assert_true(fetch_job_may_ask(&x->j, 0, now + 700 * DUR_SEC));
	assert_false(fetch_job_may_ask(&x->j, 1, now + 700 * DUR_SEC));
}

/* What one connection was told is not undone by another that was told nothing. */
static void test_retry_after_is_not_forgotten(void **state)
{
	struct rounds *x = *state;

	fails(x, 0, 503, 100 * DUR_SEC);
	fails(x, 0, 503, -1);
	fails(x, 0, 503, 10 * DUR_SEC);
	assert_false(fetch_job_may_ask(&x->j, 0, dur_now() + 40 * DUR_SEC));
}

/* While other connections to it move, too: they go on, there will be no more of them than there are, and
 * no new one before its time. */
static void test_retry_after_while_others_move(void **state)
{
	struct rounds *x = *state;
	int64_t now = dur_now();

	fetch_job_asked(&x->j, 0);
	x->mirrors[0].active = 3;
	fails(x, 0, 503, 30 * DUR_SEC);
	assert_int_equal(x->mirrors[0].limit, 3);
	assert_false(fetch_job_may_ask(&x->j, 0, now + 29 * DUR_SEC));
	assert_true(fetch_job_may_ask(&x->j, 0, now + 90 * DUR_SEC));
	/* and without it there is only to be none more */
	x->mirrors[1].active = 2;
	fails(x, 1, 503, -1);
	assert_true(fetch_job_may_ask(&x->j, 1, now));
	assert_int_equal(x->mirrors[1].limit, 2);
}

/* One that was not asked may have it: the end is not now. But the other need not be asked all the time
 * for an hour. */
static void test_one_is_left_alone(void **state)
{
	struct rounds *x = *state;
	int64_t delay = 0;

	fails(x, 1, 503, 3600 * DUR_SEC);
	for (int round = 0; round < 100; round++) {
		fails(x, 0, 404, -1);
		delay = end_round(x, UINT32_MAX);
		assert_true(delay >= 0 && (round < 10 ? delay <= 5 * DUR_SEC : true));
	}
	assert_int_equal(delay, 30 * DUR_SEC);
}

/* A certificate of the future: the clock is given time to be set, but not for ever. */
static void test_the_clock_is_waited_for(void **state)
{
	struct rounds *x = *state;
	const int64_t begin = dur_now();
	int64_t now = begin, delay;
	struct err e;
	int rounds = 0;

	(void)err_fail(&e, ERR_NET, ETIME, "certificate is not yet valid");
	do {
		fails(x, 0, 404, -1);
		fetch_job_asked(&x->j, 1);
		fetch_mirror_failed(&x->j, 1, &e, NULL);
		delay = fetch_job_end_round(&x->j, now, UINT32_MAX);
		now += delay > 0 ? delay : 0;
		rounds++;
	} while (delay >= 0);
	assert_in_range(now - begin, 600 * DUR_SEC, 620 * DUR_SEC);
	assert_in_range(rounds, 100, 140);
	assert_int_equal(x->j.waited_ns, now - begin);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_three_rounds),
		T(test_jitter_is_full),
		T(test_too_many),
		T(test_one_connection_of_several),
		T(test_one_connection_is_enough),
		T(test_limit_of_the_next_round),
		T(test_progress_begins_anew),
		T(test_retry_after_of_all),
		T(test_retry_after_is_not_forgotten),
		T(test_retry_after_while_others_move),
		T(test_one_is_left_alone),
		T(test_the_clock_is_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
