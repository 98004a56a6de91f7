#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include "assets/cache/spans.h"
#include "assets/fetch/job.h"
#include "nodeup/base/dur.h"
#include "tests/unit/lib/fetch_box.h"

/* 16 ranges of the origin's 64 KiB. */
enum { RANGE = 4096, CONNECTIONS = 6 };

/* As another run: a fetcher that knows nothing. */
static void next_run(struct box *x)
{
	/* however slow this machine is, nobody is helped before a test wants it */
	const struct fetch_opts opts = { .range_bytes = RANGE,
					 .connections = CONNECTIONS,
					 .patience_ns = 100 * DUR_SEC };

	box_open_fetcher(x, x->http);
	fetch_tune(x->f, &opts);
}

static int setup(void **state)
{
	struct box *x;

	(void)box_setup(state);
	x = *state;
	box_be_patient(x);
	next_run(x);
	box_forget(x);
	return 0;
}

/* Fetch until so much is here and nothing more will come, and end the run. */
static void fetch_some(struct box *x, const struct asset *as, int64_t bytes)
{
	const struct timespec nap = { .tv_nsec = 5 * 1000 * 1000 };
	struct verdict v = VERDICT_INIT;
	struct fetch_status st = { 0 };

	fetch_start(x->f, as, box_on_done, &v);
	while (st.bytes < bytes) {
		assert_true(fetch_status(x->f, as, &st));
		(void)nanosleep(&nap, NULL);
	}
	assert_int_equal(st.bytes, bytes);
	next_run(x);
	assert_int_equal(v.cancelled, 1);
}

/* Every byte once, from both mirrors, over no more connections than there may be. */
static void test_mirrors_share(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/two/a?ranges&etag=a&rate=200000",
				       "/two/b?ranges&etag=b&rate=200000", NULL);

	box_must_succeed(x, &as);
	assert_int_equal(box_sent_of(x, "/two/a") + box_sent_of(x, "/two/b"), SIZE);
	assert_in_range(box_sent_of(x, "/two/a"), RANGE, SIZE - RANGE);
	assert_in_range(box_peak(x), 2, CONNECTIONS);
}

/* Of many assets together, too: and each gets its turn. */
static void test_connections_in_all(void **state)
{
	enum { N = 12 };
	struct box *x = *state;
	struct asset as[N];
	struct verdict v = VERDICT_INIT;
	autofree unsigned char *body = origin_body(20000 + N);

	for (size_t i = 0; i < N; i++) {
		as[i] = box_asset_at(
			x, arena_printf(x->a, "/cap/%zu?ranges&rate=200000&size=%zu", i, 20000 + i),
			NULL);
		digest_of(DIGEST_SHA256, body, 20000 + i, &as[i].digest);
		fetch_start(x->f, &as[i], box_on_done, &v);
	}
	box_wait_calls(&v, N);
	for (size_t i = 0; i < N; i++) {
		assert_true(cache_has(x->cache, &as[i].digest));
		assert_int_equal(box_sent_of(x, arena_printf(x->a, "/cap/%zu", i)), 20000 + i);
	}
	assert_in_range(box_peak(x), 2, CONNECTIONS);
}

/* None, refused, or not those that were asked for: one stream. */
static void test_no_ranges(void **state)
{
	static const struct {
		const char *fault;
		int count;
	} cases[] = { { "x", 1 }, { "ranges=refused", 2 }, { "ranges=odd", 2 }, { "chunked", 1 } };
	struct box *x = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *path = arena_printf(x->a, "/none/%zu", i);
		struct asset as =
			box_asset_at(x, arena_printf(x->a, "%s?%s", path, cases[i].fault), NULL);

		next_run(x);
		box_must_succeed(x, &as);
		assert_int_equal(box_count_of(x, path), cases[i].count);
		box_empty_cache(x);
	}
}

static int count_calls(struct verdict *v)
{
	int n;

	(void)pthread_mutex_lock(&v->lock);
	n = v->calls;
	(void)pthread_mutex_unlock(&v->lock);
	return n;
}

/* Whatever a mirror does not say, and however much it sends: it ends, and the second mirror is asked where the first has
 * not all of it. */
static void test_every_answer_ends(void **state)
{
	enum { MOST = 400, TRIES = 20 * 200 };
	static const char *const lengths[] = { "fail=0", "star&nolength" };
	static const char *const names[] = { "noetag", "modified=1" };
	static const char *const ranges[] = { "fail=0", "ranges" };
	static const char *const bodies[] = { "fail=0", "truncate=1000", "ranges=1000", "longer",
					      "empty" };
	const struct timespec nap = { .tv_nsec = 5 * 1000 * 1000 };
	struct box *x = *state;

	for (size_t i = 0; i < 2 * 2 * 2 * ARRAY_LEN(bodies); i++) {
		const char *path = arena_printf(x->a, "/ends/%zu", i), *body = bodies[i / 8];
		const char *url = arena_printf(x->a, "%s/a?%s&%s&%s&%s", path, lengths[i % 2],
					       names[i / 2 % 2], ranges[i / 4 % 2], body);
		struct asset as =
			box_asset_at(x, url, arena_printf(x->a, "%s/b?ranges", path), NULL);
		struct verdict v = VERDICT_INIT;
		int first = 0, tries = 0;

		fetch_start(x->f, &as, box_on_done, &v);
		for (; count_calls(&v) == 0 && first < MOST && tries < TRIES; tries++) {
			(void)nanosleep(&nap, NULL);
			first = box_count_of(x, arena_printf(x->a, "%s/a", path));
		}
		next_run(x);
		if (v.cancelled || v.r != 0)
			print_message("%s: %d requests, %d\n", url, first, v.r);
		assert_int_equal(v.calls - v.cancelled, 1);
		assert_int_equal(v.r, 0);
		box_empty_cache(x);
	}
}

/* One that has another object for each request has no more rounds than one that has none. */
static void test_object_that_changes_each_time(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/ever/a?ranges&etag=each&truncate=1000", NULL);

	(void)box_must_fail(x, &as, ERR_NET, "");
	assert_in_range(box_count_of(x, "/ever/a"), 3, 40);
}

/* A mirror without ranges neither wins over what came in parts, nor is it asked twice. */
static void test_late_mirror_without_ranges(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/late/a?ranges&rate=20000", "/late/b", NULL);

	box_must_succeed(x, &as);
	assert_int_equal(box_sent_of(x, "/late/a"), SIZE);
	assert_in_range(box_count_of(x, "/late/b"), 0, 1);
}

/* It is all that is left: what came in parts stays, and is completed by its stream. */
static void test_only_a_stream_is_left(void **state)
{
	struct box *x = *state;
	struct asset as =
		box_asset_at(x, "/left/a?ranges=5000&truncate=5000&fail=0", "/left/b", NULL);
	struct asset dead = box_asset_at(x, "/left/c?ranges&truncate=3000&times=1&fail=0",
					 "/left/d?fail=1", NULL);

	box_must_succeed(x, &as);
	next_run(x);
	box_empty_cache(x);
	box_must_succeed(x, &dead);
}

/* Another object: not the same size, or under another mark than the same mirror gave it before. */
static void test_other_objects(void **state)
{
	struct box *x = *state;
	struct asset size =
		box_asset_at(x, "/size/a?ranges&rate=100000", "/size/b?ranges&longer", NULL);
	struct asset mark = box_asset_at(x, "/mark/a?ranges=blind&other=5", NULL);
	autofree unsigned char *body = origin_body(SIZE + 1);

	box_must_succeed(x, &size);
	assert_int_equal(box_sent_of(x, "/size/a"), SIZE);
	assert_in_range(box_count_of(x, "/size/b"), 0, 1);
	for (size_t i = 0; i < SIZE; i++)
		body[i] ^= 1;
	body[SIZE] = '!';
	digest_of(DIGEST_SHA256, body, SIZE + 1, &mark.digest);
	next_run(x);
	box_must_succeed(x, &mark);
}

/* Nobody is blamed for a sum of parts; who lied is known when each has sent it whole. */
static void test_a_liar_among_them(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/lie/a?ranges&flip=9&rate=200000",
				       "/lie/b?ranges&rate=200000", NULL);
	struct asset all = box_asset_at(x, "/lie/c?ranges&flip=9", NULL);
	struct fetch_status st;
	struct err e;

	box_must_succeed(x, &as);
	assert_true(fetch_status(x->f, &as, &st));
	assert_non_null(strstr(st.url, "/lie/b"));
	/* the liar was asked for the whole once, and the other one, too */
	assert_in_range(box_sent_of(x, "/lie/a"), SIZE, 2 * SIZE);
	assert_in_range(box_sent_of(x, "/lie/b"), SIZE, 2 * SIZE);
	next_run(x);
	box_empty_cache(x);
	e = box_must_fail(x, &all, ERR_INTEGRITY, "wrong content, 1 of 1 mirror");
	assert_non_null(strstr(box_note(&e, "url"), "/lie/c"));
	assert_int_equal(box_sent_of(x, "/lie/c"), 2 * SIZE);
}

/* An honest mirror after a run that left wrong bytes: not its fault. */
static void test_bytes_of_a_former_run(void **state)
{
	struct box *x = *state;
	struct asset before = box_asset_at(x, "/former/a?ranges&flip=9&stall=3000", NULL);
	struct asset now = box_asset_at(x, "/former/b?ranges", NULL);

	fetch_some(x, &before, 3000 * CONNECTIONS);
	box_must_succeed(x, &now);
	assert_int_equal(box_sent_of(x, "/former/b"), 2 * SIZE - 3000 * CONNECTIONS);
}

/* What arrived before the end of a run, in whatever order, is not asked for by the next. */
static void test_next_run_asks_for_the_rest(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/rest/k?ranges&stall=1000&times=6", NULL);

	fetch_some(x, &as, 1000 * CONNECTIONS);
	box_must_succeed(x, &as);
	assert_int_equal(box_sent_of(x, "/rest/k"), SIZE);
}

/* Slow, and no other has been seen that is quick: half of the rest is tried elsewhere, and then more. */
static void test_help_for_a_slow_mirror(void **state)
{
	const struct fetch_opts opts = { .patience_ns = DUR_SEC / 5 };
	struct box *x = *state;
	struct asset parts = box_asset_at(x, "/help/a?ranges&rate=2000", "/help/b?ranges", NULL);
	struct asset streams = box_asset_at(x, "/help/c?rate=2000", "/help/d", NULL);

	fetch_tune(x->f, &opts);
	box_must_succeed(x, &parts);
	assert_in_range(box_sent_of(x, "/help/a"), 1, SIZE / 2);
	box_open_fetcher(x, x->http);
	fetch_tune(x->f, &opts);
	box_empty_cache(x);
	box_must_succeed(x, &streams);
	assert_in_range(box_sent_of(x, "/help/c"), 1, SIZE / 2);
	assert_int_equal(box_count_of(x, "/help/d"), 1);
}

/* One that lets in few is not asked by more; it is not a failure. */
static void test_few_connections_allowed(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/few/k?ranges&rate=100000&busy=2", NULL);

	box_must_succeed(x, &as);
	assert_int_equal(box_sent_of(x, "/few/k"), SIZE);
}

/* A connection that drops, or one 503, is not a reason to go on with one alone where there is no other mirror:
 * nor with the next object. */
static void test_a_lone_mirror_that_failed_once(void **state)
{
	static const char *const faults[] = { "truncate=1000&times=1", "reset=1000&times=1",
					      "fail=1", "fail=1&code=503" };
	struct box *x = *state;

	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		struct asset as = box_asset_at(
			x, arena_printf(x->a, "/lone/%zu?ranges&delay=0.2&%s", i, faults[i]), NULL);

		next_run(x);
		box_forget(x);
		box_must_succeed(x, &as);
		/* the first was alone, whatever became of it */
		assert_in_range(box_peak(x), 2, CONNECTIONS);
		box_empty_cache(x);
	}
}

static void wait_starved(struct box *x)
{
	const struct timespec nap = { .tv_nsec = 5 * 1000 * 1000 };
	bool starves = false;

	for (int i = 0; i < 6000 && !starves; i++) {
		(void)nanosleep(&nap, NULL);
		fetch_lock(x->f);
		for (const struct fetch_job *j = x->f->jobs; j; j = j->next)
			starves |= j->state == FETCH_STARVED;
		fetch_unlock(x->f);
	}
	assert_true(starves);
}

/* One that waited for a connection, and is wanted no more, leaves the others theirs. */
static void test_a_cancelled_wait_holds_up_nobody(void **state)
{
	const struct fetch_opts opts = { .range_bytes = RANGE,
					 .connections = 2,
					 .patience_ns = 100 * DUR_SEC };
	static const char *const paths[] = { "/hog/a?stall=1000&size=20001",
					     "/hog/b?stall=1000&size=20002",
					     "/hog/late?ranges&size=20003" };
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/after/k?ranges&delay=0.2", NULL), others[3];
	const struct timespec nap = { .tv_nsec = 5 * 1000 * 1000 };
	autofree unsigned char *body = origin_body(20003);
	struct fetch_status st = { 0 };
	struct verdict v = VERDICT_INIT;

	fetch_tune(x->f, &opts);
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		others[i] = box_asset_at(x, paths[i], NULL);
		digest_of(DIGEST_SHA256, body, 20001 + i, &others[i].digest);
		fetch_start(x->f, &others[i], box_on_done, &v);
		while (i < 2 && fetch_status(x->f, &others[i], &st) && st.bytes < 1000)
			(void)nanosleep(&nap, NULL);
	}
	wait_starved(x);
	for (size_t i = ARRAY_LEN(others); i > 0; i--) {
		fetch_cancel(x->f, &others[i - 1]);
		box_wait_calls(&v, (int)(ARRAY_LEN(others) - i + 1));
	}
	assert_int_equal(v.cancelled, ARRAY_LEN(others));
	box_forget(x);
	box_must_succeed(x, &as);
	assert_int_equal(box_peak(x), 2);
}

/* What is asked for at a time is what the mirror gives in two seconds, within bounds. */
static void test_sizes_adapt(void **state)
{
	const struct fetch_opts opts = { .range_bytes = RANGE, .connections = 1 };
	struct box *x = *state;
	struct asset quick = box_asset_at(x, "/adapt/quick?ranges", NULL);
	struct asset slow = box_asset_at(x, "/adapt/slow?ranges&rate=1500&times=1&size=8192", NULL);
	autofree unsigned char *body = origin_body(2 * RANGE);

	fetch_tune(x->f, &opts);
	box_must_succeed(x, &quick);
	/* after the first: four times as much, unless this machine is that slow */
	assert_in_range(box_count_of(x, "/adapt/quick"), SIZE / RANGE / 4 + 1, SIZE / RANGE - 1);
	box_open_fetcher(x, x->http);
	fetch_tune(x->f, &opts);
	digest_of(DIGEST_SHA256, body, 2 * RANGE, &slow.digest);
	box_must_succeed(x, &slow);
	assert_in_range(box_count_of(x, "/adapt/slow"), 3, 1 + 8);
}

static void test_spans(void **state)
{
	struct spans s = { 0 };

	(void)state;
	assert_int_equal(spans_missing(&s, 7), 7);
	assert_true(spans_present(&s, 7) == UINT64_MAX);
	spans_add(&s, 10, 20);
	spans_add(&s, 30, 40);
	spans_add(&s, 50, 50);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.sum, 20);
	assert_int_equal(spans_missing(&s, 10), 20);
	assert_int_equal(spans_missing(&s, 20), 20);
	assert_int_equal(spans_present(&s, 0), 10);
	assert_int_equal(spans_present(&s, 15), 15);
	assert_int_equal(spans_present(&s, 20), 30);
	spans_add(&s, 20, 30);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.sum, 30);
	spans_add(&s, 0, 5);
	spans_add(&s, 60, 70);
	spans_add(&s, 3, 65);
	assert_int_equal(s.n, 1);
	assert_int_equal(s.sum, 70);
	assert_int_equal(spans_missing(&s, 0), 70);
	assert_true(spans_present(&s, 70) == UINT64_MAX);
	spans_done(&s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_mirrors_share),
		TEST(test_connections_in_all),
		TEST(test_every_answer_ends),
		TEST(test_object_that_changes_each_time),
		TEST(test_no_ranges),
		TEST(test_late_mirror_without_ranges),
		TEST(test_only_a_stream_is_left),
		TEST(test_other_objects),
		TEST(test_a_liar_among_them),
		TEST(test_bytes_of_a_former_run),
		TEST(test_next_run_asks_for_the_rest),
		TEST(test_help_for_a_slow_mirror),
		TEST(test_few_connections_allowed),
		TEST(test_a_lone_mirror_that_failed_once),
		TEST(test_a_cancelled_wait_holds_up_nobody),
		TEST(test_sizes_adapt),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
