#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "assets/fetch/job.h"
#include "nodeup/base/dur.h"
#include "nodeup/base/walk.h"
#include "tests/unit/lib/dir.h"
#include "tests/unit/lib/fetch_box.h"

static void test_fetched_once(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/once/kubelet", NULL);

	box_must_succeed(x, &as);
	box_must_succeed(x, &as);
	box_open_fetcher(x, x->http);
	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/once/kubelet"), 1);
}

/* All in one round: a second one would ask the first mirrors again. */
static void test_dead_mirrors(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "http://127.0.0.1:1/kubelet", "/m1/kubelet?status=404",
				       "/m1/c?truncate=100", "/m1/d?empty", "/m1/e?wrong=html",
				       "/m1/good/kubelet", NULL);
	struct fetch_status st;

	box_must_succeed(x, &as);
	assert_true(fetch_status(x->f, &as, &st));
	assert_int_equal(st.attempt, 6);
	assert_int_equal(st.bytes, SIZE);
	assert_int_equal(st.total, SIZE);
	assert_non_null(strstr(st.url, "/m1/good/kubelet"));
}

static void test_retried_until_it_works(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/retry/kubelet?fail=2", NULL);

	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/retry/kubelet"), 3);
}

static void test_three_rounds(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/r3/a/kubelet?status=500&s=hunter2",
				       "/r3/b/kubelet?status=404", NULL);
	struct err e =
		box_must_fail(x, &as, ERR_NET, "attempt 6, round 3, 2 mirrors: GET 'http://");

	assert_non_null(strstr(e.msg, "HTTP status 404"));
	assert_non_null(strstr(box_note(&e, "mirror"), "HTTP status 500"));
	assert_int_equal(e.nnotes, 3);
	assert_int_equal(e.errnum, ENOENT);
	assert_int_equal(box_count_of(x, "/r3/a/kubelet"), 3);
	assert_int_equal(box_count_of(x, "/r3/b/kubelet"), 3);
}

/* The same half every time is progress once. */
static void test_short_body(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/short/kubelet?truncate=30000", NULL);

	(void)box_must_fail(x, &as, ERR_NET, "short body: 30000 of 65536 bytes came");
	assert_int_equal(box_count_of(x, "/short/kubelet"), 4);
}

static void test_empty_body(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/none/kubelet?empty", NULL);

	(void)box_must_fail(x, &as, ERR_NET, "empty body");
	assert_int_equal(box_count_of(x, "/none/kubelet"), 3);
	/* unless nothing is what was asked for */
	digest_of(DIGEST_SHA256, "", 0, &as.digest);
	box_must_succeed(x, &as);
}

static void test_wrong_content(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/wrong/kubelet?wrong&s=hunter2", NULL);
	autofree unsigned char *body = origin_body(SIZE);
	char want[DIGEST_TEXT_MAX], got[DIGEST_TEXT_MAX];
	struct digest d;
	struct err e =
		box_must_fail(x, &as, ERR_INTEGRITY, "wrong content, 1 of 1 mirror, attempt 1");

	body[0] ^= 1;
	digest_of(DIGEST_SHA256, body, SIZE, &d);
	assert_string_equal(box_note(&e, "want"),
			    arena_printf(x->a, "sha256 %s", digest_hex(&as.digest, want)));
	assert_string_equal(box_note(&e, "got"),
			    arena_printf(x->a, "sha256 %s", digest_hex(&d, got)));
	assert_string_equal(box_note(&e, "size"), "65536 bytes = Content-Length, not truncated");
	assert_non_null(strstr(box_note(&e, "url"), "/wrong/kubelet"));
	assert_string_equal(box_note(&e, "why"), "");

	/* dropped for the run: not asked again */
	(void)box_must_fail(x, &as, ERR_INTEGRITY, "wrong content");
	assert_int_equal(box_count_of(x, "/wrong/kubelet"), 1);
	/* the next run may */
	box_open_fetcher(x, x->http);
	(void)box_must_fail(x, &as, ERR_INTEGRITY, "wrong content");
	assert_int_equal(box_count_of(x, "/wrong/kubelet"), 2);
}

static void test_stale_hash(void **state)
{
	struct box *x = *state;
	struct asset same = box_asset_at(x, "/same/a?wrong", "/same/b?wrong", NULL);
	struct asset other =
		box_asset_at(x, "/other/a?wrong", "/other/b?wrong=html&nolength", NULL);
	struct err e;

	e = box_must_fail(x, &same, ERR_INTEGRITY, "wrong content, 2 of 2 mirrors, attempt 2");
	assert_string_equal(
		box_note(&e, "why"),
		"both mirrors send the same bytes: the document's hash is probably stale");
	assert_true(e.lasts);
	box_open_fetcher(x, x->http);
	e = box_must_fail(x, &other, ERR_INTEGRITY, "wrong content, 2 of 2 mirrors");
	assert_false(e.lasts);
	assert_string_equal(box_note(&e, "why"), "");
	assert_string_equal(box_note(&e, "size"), "53 bytes, no Content-Length, maybe truncated");
}

/* It may have the right bytes when it is back. */
static void test_a_mirror_that_does_not_answer_agrees_with_none(void **state)
{
	struct box *x = *state;
	struct asset as =
		box_asset_at(x, "/two/a?wrong", "/two/b?wrong", "/two/dead?status=500", NULL);
	struct err e = box_must_fail(x, &as, ERR_NET, "3 mirrors: ");

	assert_false(e.lasts);
	assert_string_equal(box_note(&e, "why"), "");
}

/* A liar and a dead mirror: the liar is out, the dead one has its rounds, and both are named. */
static void test_liar_and_dead(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/ld/liar?wrong", "/ld/dead?status=500", NULL);
	struct err e = box_must_fail(x, &as, ERR_NET, "HTTP status 500");

	assert_non_null(strstr(box_note(&e, "mirror"), "/ld/liar': wrong content"));
	assert_int_equal(box_count_of(x, "/ld/liar"), 1);
	assert_int_equal(box_count_of(x, "/ld/dead"), 4); /* the liar's bytes were progress, once */
}

static void test_stall_goes_on(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/slow/a?stall=1000", "/slow/b?hang", "/slow/c", NULL);

	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/slow/a"), 1);
}

static void test_retry_after_is_kept(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/busy/kubelet?fail=1&code=503&retry_after=1", NULL);
	int64_t began = dur_now();

	box_must_succeed(x, &as);
	/* the jitter of a first round ends after 0.2 s */
	assert_true(dur_now() - began >= DUR_SEC);
	assert_int_equal(box_count_of(x, "/busy/kubelet"), 2);
}

/* The origin answers none before it was asked for all. */
static void test_all_at_once_and_a_file(void **state)
{
	enum { N = 12 };
	struct box *x = *state;
	struct asset as[N];
	struct verdict v = VERDICT_INIT;

	for (size_t i = 0; i < N; i++) {
		autofree unsigned char *body = origin_body(1000 + i);
		const char *path =
			arena_printf(x->a, "/many/%zu?size=%zu&gather=%d", i, 1000 + i, N - 1);

		if (i == 0) {
			tmp_write(x->dir, "local", body, 1000);
			path = arena_printf(x->a, "file://%s/local", x->dir);
		}
		as[i] = box_asset_at(x, path, NULL);
		digest_of(DIGEST_SHA1, body, 1000 + i, &as[i].digest);
		fetch_start(x->f, &as[i], box_on_done, &v);
	}
	box_wait_calls(&v, N);
	for (size_t i = 0; i < N; i++)
		assert_true(cache_has(x->cache, &as[i].digest));
	for (size_t i = 1; i < N; i++)
		assert_int_equal(box_count_of(x, arena_printf(x->a, "/many/%zu", i)), 1);
}

static void test_one_transfer_for_one_digest(void **state)
{
	struct box *x = *state;
	struct asset first = box_asset_at(x, "/shared/a?delay=0.3", NULL);
	struct asset second = box_asset_at(x, "/shared/b", NULL);
	struct verdict v = VERDICT_INIT;

	fetch_start(x->f, &first, box_on_done, &v);
	fetch_start(x->f, &first, box_on_done, &v);
	fetch_start(x->f, &second, box_on_done, &v);
	box_wait_calls(&v, 3);
	assert_int_equal(v.r, 0);
	assert_int_equal(box_count_of(x, "/shared/a"), 1);
	assert_int_equal(box_count_of(x, "/shared/b"), 0);
}

/* It moves for nobody until somebody starts it, and then for nobody else. */
static void test_begun_for_who_comes(void **state)
{
	struct box *x = *state;
	struct asset first = box_asset_at(x, "/begun/a?stall=1000", NULL), second = first;
	struct asset good = box_asset_at(x, "/begun/b", NULL);
	struct verdict v = VERDICT_INIT;

	assert_int_equal(fetch_begun(x->f, &first), 0);
	fetch_begin(x->f, &first);
	box_wait_moving(x, &first);
	assert_in_range(fetch_begun(x->f, &second), 1, dur_now());
	fetch_start(x->f, &second, box_on_done, &v);
	assert_int_equal(fetch_begun(x->f, &first), 0);
	assert_int_equal(box_count_of(x, "/begun/a"), 1);
	fetch_cancel(x->f, &second);
	box_wait_calls(&v, 1);
	assert_int_equal(v.r, -ECANCELED);
	box_open_fetcher(x, x->http);
	fetch_begin(x->f, &good);
	while (!cache_has(x->cache, &good.digest))
		(void)poll(NULL, 0, 1);
	assert_int_not_equal(fetch_begun(x->f, &good), 0);
	box_must_succeed(x, &good);
	assert_int_equal(box_count_of(x, "/begun/b"), 1);
}

static void test_offline(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/off/kubelet", NULL);

	box_open_fetcher(x, NULL);
	(void)box_must_fail(x, &as, ERR_NET, "offline, and not in the cache");
	box_open_fetcher(x, x->http);
	box_must_succeed(x, &as);
	box_open_fetcher(x, NULL);
	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/off/kubelet"), 1);
}

static void test_cancel(void **state)
{
	struct box *x = *state;
	struct asset first = box_asset_at(x, "/cancel/a?stall=1000", NULL), second = first;
	struct verdict v1 = VERDICT_INIT, v2 = VERDICT_INIT;

	fetch_start(x->f, &first, box_on_done, &v1);
	fetch_start(x->f, &second, box_on_done, &v2);
	box_wait_moving(x, &first);
	/* the other one still wants it */
	fetch_cancel(x->f, &first);
	box_wait_calls(&v1, 1);
	assert_int_equal(v1.r, -ECANCELED);
	assert_int_equal(v2.calls, 0);
	fetch_cancel(x->f, &second);
	box_wait_calls(&v2, 1);
	assert_int_equal(v2.r, -ECANCELED);
	fetch_cancel(x->f, &second);
	box_open_fetcher(x, x->http);
	assert_int_equal(v1.calls, 1);
	assert_int_equal(v2.calls, 1);
	assert_false(fetch_status(x->f, &first, &(struct fetch_status){ 0 }));
	{
		/* nothing half-written is left */
		autoclose int fd =
			openat(x->root_fd, "cache/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		autodir DIR *dir = fdopendir(TAKE_FD(fd));

		assert_non_null(readdir(dir));
		assert_non_null(readdir(dir));
		assert_null(readdir(dir));
	}
}

/* While waiting for the next round, too: fetch_free does not sit out a Retry-After. */
static void test_free_while_waiting(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/patience/a?fail=9&retry_after=60", NULL);
	struct verdict v = VERDICT_INIT;
	struct fetch_status st = { 0 };
	int64_t began = dur_now();

	fetch_start(x->f, &as, box_on_done, &v);
	while (st.next_try_ns == 0)
		assert_true(fetch_status(x->f, &as, &st));
	assert_true(st.next_try_ns > began + 50 * DUR_SEC);
	assert_non_null(strstr(st.last_error, "HTTP status 500"));
	fetch_free(x->f);
	x->f = NULL;
	assert_int_equal(v.calls, 1);
	assert_int_equal(v.cancelled, 1);
	assert_true(dur_now() - began < 30 * DUR_SEC);
	fetch_free(NULL);
}

/* Started and freed at once, again and again: whatever state it is in, each done comes once. */
static void test_free_at_any_time(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/race/a?status=500", "/race/b?truncate=100", NULL);

	for (int i = 0; i < 60; i++) {
		const struct timespec nap = { .tv_nsec = i * 300 * 1000 };
		struct verdict v = VERDICT_INIT;

		fetch_start(x->f, &as, box_on_done, &v);
		(void)nanosleep(&nap, NULL);
		if (i % 2)
			fetch_cancel(x->f, &as);
		box_open_fetcher(x, x->http);
		assert_int_equal(v.calls, 1);
	}
}

static void test_again_after_cancel(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/again/a", NULL);

	for (int i = 0; i < 30; i++) {
		struct verdict v = VERDICT_INIT, w = VERDICT_INIT;

		fetch_start(x->f, &as, box_on_done, &v);
		fetch_cancel(x->f, &as);
		fetch_start(x->f, &as, box_on_done, &w);
		box_wait_calls(&w, 1);
		assert_int_equal(w.r, 0);
		box_wait_calls(&v, 1);
		assert_int_equal(v.calls, 1);
		assert_int_equal(walk_remove(x->root_fd, "cache/sha256"), 0);
		assert_int_equal(mkdirat(x->root_fd, "cache/sha256", 0755), 0);
	}
}

/* Wanted again just when the last one who did has left: whoever did not leave is never told that they
 * did, and gets it. */
static void test_wanted_while_given_up(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/left/a?ranges&rate=4000000", NULL);

	for (int i = 0; i < 40; i++) {
		const struct timespec nap = { .tv_nsec = i * 250 * 1000 },
				      blink = { .tv_nsec = i * 5000 };
		struct verdict v = VERDICT_INIT, w = VERDICT_INIT;

		fetch_start(x->f, &as, box_on_done, &v);
		(void)nanosleep(&nap, NULL);
		fetch_cancel(x->f, &as);
		(void)nanosleep(&blink, NULL);
		fetch_start(x->f, &as, box_on_done, &w);
		box_wait_calls(&w, 1);
		box_wait_calls(&v, 1);
		assert_int_equal(w.r, 0);
		assert_true(v.r == 0 || v.r == -ECANCELED);
		box_empty_cache(x);
	}
}

static void test_retry_date_is_kept(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/dated/kubelet?fail=1&code=429&retry_date=3", NULL);
	int64_t began = dur_now();

	box_must_succeed(x, &as);
	/* a date has no parts of a second */
	assert_true(dur_now() - began >= 2 * DUR_SEC - DUR_SEC / 10);
	assert_int_equal(box_count_of(x, "/dated/kubelet"), 2);
}

static void test_full_disk_is_no_mirrors_fault(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/full/a", "/full/b", NULL);
	struct asset at_once = box_asset_at(x, "/full/c?size=5000", NULL);
	autofree unsigned char *body = origin_body(5000);
	struct rlimit before, small;

	/* the limit on file sizes is the disk that is full; its signal is blocked on all our threads */
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small = before;
	small.rlim_cur = 1000;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	(void)box_must_fail(x, &as, ERR_SYSTEM, "File too large");
	/* its last bytes come with its first */
	digest_of(DIGEST_SHA256, body, 5000, &at_once.digest);
	(void)box_must_fail(x, &at_once, ERR_SYSTEM, "File too large");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(box_count_of(x, "/full/c"), 1);
	assert_int_equal(box_count_of(x, "/full/a"), 1);
	assert_int_equal(box_count_of(x, "/full/b"), 0);
	box_must_succeed(x, &as);
}

/* A host that gave is asked first, one that failed last; what has no such asset has not failed. */
static void test_good_mirror_first(void **state)
{
	struct box *x = *state;
	const char *good = arena_printf(x->a, "http://localhost:%d/good", x->o->port);
	struct asset first = box_asset_at(x, "/hosts/a?status=500", good, NULL);
	struct asset later = box_asset_at(x, "/hosts/b?size=100", "http://127.0.0.1:1/b",
					  arena_printf(x->a, "%s/b?size=100", good), NULL);
	struct asset only = box_asset_at(x, "/hosts/c?size=200", NULL);
	autofree unsigned char *body = origin_body(200);

	digest_of(DIGEST_SHA256, body, 100, &later.digest);
	digest_of(DIGEST_SHA256, body, 200, &only.digest);
	box_must_succeed(x, &first);
	assert_int_equal(box_count_of(x, "/hosts/a"), 1);
	box_must_succeed(x, &later);
	assert_int_equal(box_count_of(x, "/hosts/b"), 0);
	assert_int_equal(box_count_of(x, "/good/b"), 1);
	/* last is not never, and whoever gives is good again */
	box_must_succeed(x, &only);
	assert_int_equal(walk_remove(x->root_fd, "cache/sha256"), 0);
	assert_int_equal(mkdirat(x->root_fd, "cache/sha256", 0755), 0);
	box_must_succeed(x, &later);
	assert_int_equal(box_count_of(x, "/hosts/b"), 1);
	/* a new run knows nothing */
	box_open_fetcher(x, x->http);
	assert_int_equal(walk_remove(x->root_fd, "cache/sha256"), 0);
	assert_int_equal(mkdirat(x->root_fd, "cache/sha256", 0755), 0);
	box_must_succeed(x, &first);
	assert_int_equal(box_count_of(x, "/hosts/a"), 2);
}

/* Helped by another, which does nearly all of the rest; where there is no other it is put up with. */
static void test_slow_mirror_is_left(void **state)
{
	struct box *x = *state;
	struct asset quick = box_asset_at(x, "/pace/quick?size=30000", NULL);
	struct asset as = box_asset_at(x, "/pace/slow?ranges&rate=2000", "/pace/fast?ranges", NULL);
	struct asset only = box_asset_at(x, "/pace/only?rate=4000&size=30000", NULL);
	autofree unsigned char *body = origin_body(30000);
	struct verdict v = VERDICT_INIT;

	box_be_patient(x);
	digest_of(DIGEST_SHA256, body, 30000, &quick.digest);
	digest_of(DIGEST_SHA1, body, 30000, &only.digest);
	box_must_succeed(x, &quick);
	fetch_start(x->f, &only, box_on_done, &v);
	fetch_start(x->f, &as, box_on_done, &v);
	box_wait_calls(&v, 2);
	assert_int_equal(v.r, 0);
	assert_int_equal(box_count_of(x, "/pace/slow"), 1);
	assert_in_range(box_sent_of(x, "/pace/slow"), 1, SIZE / 2);
	assert_in_range(box_sent_of(x, "/pace/fast"), SIZE / 2, SIZE - 1);
	assert_int_equal(box_count_of(x, "/pace/only"), 1);
	assert_int_equal(box_sent_of(x, "/pace/only"), 30000);
}

/* By the book: a tenth of the best, of a line that others share, unless it is done soon. */
static void test_pace(void **state)
{
	struct fetch_hosts h = { 0 };
	struct fetch_pace p;
	double rate;

	(void)state;
	fetch_pace_begin(&p, 0, 0);
	fetch_pace_end(&p, 1, 250000, &h);
	assert_true(h.best == 1000000);
	fetch_pace_begin(&p, 0, 7);
	assert_false(fetch_pace_is_due(&p, 5 * DUR_SEC - 1));
	assert_true(fetch_pace_is_due(&p, 5 * DUR_SEC));
	assert_true(fetch_pace_is_slow(&p, 5 * DUR_SEC, 450007, -1, 1, &h, &rate));
	assert_true(rate == 90000);
	assert_false(fetch_pace_is_due(&p, 6 * DUR_SEC));
	assert_false(fetch_pace_is_slow(&p, 10 * DUR_SEC, 1000007, -1, 1, &h, &rate));
	assert_false(fetch_pace_is_slow(&p, 15 * DUR_SEC, 1450007, -1, 2, &h, &rate));
	assert_false(fetch_pace_is_slow(&p, 20 * DUR_SEC, 1900007, 2800000, 1, &h, &rate));
	assert_true(fetch_pace_is_slow(&p, 25 * DUR_SEC, 2350007, 3300000, 1, &h, &rate));
	assert_false(fetch_pace_is_slow(&p, 30 * DUR_SEC, 22350007, -1, 1, &h, &rate));
	assert_true(h.best == 4000000);
}

/* The delays, by the book: full jitter, 0.2 s doubling to 5 s. */
static void test_backoff(void **state)
{
	static const double limits[] = { 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5 };
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/x", NULL);
	struct fetch_job *j = xcalloc(1, sizeof(*j));
	const struct err failure = { .kind = ERR_NET };

	j->fetcher = x->f;
	j->errs = xcalloc(1, sizeof(*j->errs));
	fetch_job_add_mirrors(j, &as);
	fetch_job_restart(j);
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		int64_t delay;

		assert_true(fetch_job_may_ask(j, 0, 0));
		fetch_job_asked(j, 0);
		fetch_job_failed(j, 0, &failure, 0);
		assert_false(fetch_job_may_ask(j, 0, 0));
		assert_int_equal(j->attempt, i + 1);
		j->best += 1; /* progress: go on for ever */
		delay = fetch_job_end_round(j, 0, i % 2 ? UINT32_MAX / 2 : UINT32_MAX);
		assert_int_equal(delay / DUR_MS,
				 (int64_t)(limits[i] * (i % 2 ? 0.5 : 1) * 1000 - i % 2 * 0.01));
	}
	assert_int_equal(fetch_job_end_round(j, 0, 0), 0);
	fetch_job_free(j);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, box_setup, box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_fetched_once),
		TEST(test_dead_mirrors),
		TEST(test_retried_until_it_works),
		TEST(test_three_rounds),
		TEST(test_short_body),
		TEST(test_empty_body),
		TEST(test_wrong_content),
		TEST(test_stale_hash),
		TEST(test_a_mirror_that_does_not_answer_agrees_with_none),
		TEST(test_liar_and_dead),
		TEST(test_stall_goes_on),
		TEST(test_retry_after_is_kept),
		TEST(test_all_at_once_and_a_file),
		TEST(test_one_transfer_for_one_digest),
		TEST(test_begun_for_who_comes),
		TEST(test_offline),
		TEST(test_cancel),
		TEST(test_free_while_waiting),
		TEST(test_free_at_any_time),
		TEST(test_again_after_cancel),
		TEST(test_wanted_while_given_up),
		TEST(test_retry_date_is_kept),
		TEST(test_full_disk_is_no_mirrors_fault),
		TEST(test_good_mirror_first),
		TEST(test_slow_mirror_is_left),
		TEST(test_pace),
		TEST(test_backoff),
	};

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
