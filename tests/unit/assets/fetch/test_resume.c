#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include "assets/fetch/range.h"
#include "nodeup/base/walk.h"
#include "tests/unit/lib/fetch_box.h"

/* Every byte is sent once, however often the connection drops. */
static void test_dropped_connections(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/drop/kubelet?ranges&truncate=20000", NULL);
	struct asset little =
		box_asset_at(x, "/drop/little?ranges=10000&truncate=20000&times=1", NULL);

	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/drop/kubelet"), 4);
	assert_int_equal(box_sent_of(x, "/drop/kubelet"), SIZE);
	/* a server may send less than it was asked for */
	box_open_fetcher(x, x->http);
	assert_int_equal(walk_remove(x->root_fd, "cache/sha256"), 0);
	assert_int_equal(mkdirat(x->root_fd, "cache/sha256", 0755), 0);
	box_must_succeed(x, &little);
	assert_int_equal(box_count_of(x, "/drop/little"), 7);
	assert_int_equal(box_sent_of(x, "/drop/little"), SIZE);
}

/* Marks differ between mirrors, the size must not. */
static void test_next_mirror_goes_on(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/rest/a?ranges&truncate=30000&etag=one",
				       "/rest/b?ranges&etag=two&truncate=10000",
				       "/rest/c?ranges&star", NULL);

	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/rest/a"), 1);
	assert_int_equal(box_count_of(x, "/rest/b"), 1);
	assert_int_equal(box_sent_of(x, "/rest/a"), 30000);
	assert_int_equal(box_sent_of(x, "/rest/b"), 10000);
	assert_int_equal(box_sent_of(x, "/rest/c"), SIZE - 40000);
}

static void test_next_run_goes_on(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/later/kubelet?ranges&stall=1000&times=1", NULL);
	struct verdict v = VERDICT_INIT;

	fetch_start(x->f, &as, box_on_done, &v);
	box_wait_moving(x, &as);
	box_open_fetcher(x, x->http);
	assert_int_equal(v.cancelled, 1);
	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/later/kubelet"), 2);
	assert_int_equal(box_sent_of(x, "/later/kubelet"), SIZE);
}

/* Another object under the same URL: by If-Range the server sends all of it, else its mark and size
 * tell. Either way the bytes are gone before any of the new one are taken. */
static void test_changed_object(void **state)
{
	static const char *const urls[] = {
		"/changed/0?ranges&truncate=30000&times=1&other=1",
		"/changed/1?ranges=blind&truncate=30000&times=1&other=1",
		"/changed/2?ranges=blind&noetag&truncate=30000&times=1&other=1",
		"/changed/3?ranges=blind&star&truncate=30000&times=1&other=1",
	};
	struct box *x = *state;
	autofree unsigned char *body = origin_body(SIZE + 1);

	for (size_t i = 0; i < SIZE; i++)
		body[i] ^= 1;
	body[SIZE] = '!';
	for (size_t i = 0; i < ARRAY_LEN(urls); i++) {
		struct asset as = box_asset_at(x, urls[i], NULL);

		digest_of(DIGEST_SHA256, body, SIZE + 1, &as.digest);
		box_must_succeed(x, &as);
		assert_int_equal(box_count_of(x, arena_printf(x->a, "/changed/%zu", i)),
				 i == 3 ? 4 : 3); /* of unknown size: the end is asked for, too */
		assert_int_equal(walk_remove(x->root_fd, "cache/sha256"), 0);
		assert_int_equal(mkdirat(x->root_fd, "cache/sha256", 0755), 0);
		box_open_fetcher(x, x->http);
	}
}

/* The first part is a lie, the rest is not: who lied is not known before each has sent it whole. */
static void test_parts_of_a_liar(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/half/liar?ranges&wrong&truncate=30000&times=1",
				       "/half/good?ranges", NULL);
	struct fetch_status st;

	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/half/liar"), 2);
	assert_int_equal(box_sent_of(x, "/half/liar"), 30000 + SIZE);
	assert_int_equal(box_count_of(x, "/half/good"), 2);
	assert_int_equal(box_sent_of(x, "/half/good"), SIZE - 30000 + SIZE);
	assert_true(fetch_status(x->f, &as, &st));
	assert_int_equal(st.attempt, 4);
}

/* Three of the four mirrors that a record has room for. */
#define NO_MARKS "\n\n\n\n\n\n\n\n\n"

/* As a run leaves it that was killed with n bytes. */
static void leave_part(struct box *x, size_t n, const char *record)
{
	autofree unsigned char *body = origin_body(n);
	char hex[DIGEST_TEXT_MAX];
	const char *name =
		arena_printf(x->a, "cache/partial/sha256-%s", digest_hex(&x->right, hex));

	tmp_write(x->dir, name, body, n);
	tmp_write(x->dir, arena_printf(x->a, "%s.from", name), record, strlen(record));
}

static void test_complete_part(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/part/kubelet?ranges&etag=x", NULL);
	const char *url = strchr(as.urls.v[0], '?'), *from;

	from = arena_strn(x->a, as.urls.v[0], (size_t)(url - as.urls.v[0]));
	leave_part(x, SIZE,
		   arena_printf(x->a, "v2\n%d\n%s\n\n\n" NO_MARKS "end\n%016x %016x\n", SIZE, from,
				0, SIZE));
	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/part/kubelet"), 0);
	/* of unknown size: the server says that there is no more */
	box_open_fetcher(x, x->http);
	assert_int_equal(walk_remove(x->root_fd, "cache/sha256"), 0);
	assert_int_equal(mkdirat(x->root_fd, "cache/sha256", 0755), 0);
	leave_part(x, SIZE,
		   arena_printf(x->a, "v2\n-1\n%s\n\"x\"\n\n" NO_MARKS "end\n%016x %016x\n", from,
				0, SIZE));
	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/part/kubelet"), 1);
	assert_int_equal(box_sent_of(x, "/part/kubelet"), 0);
}

/* All of it is here, and wrong: nobody of this run sent it, and nobody is blamed. */
static void test_complete_and_wrong(void **state)
{
	struct box *x = *state;
	struct asset as = box_asset_at(x, "/wrong/kubelet?ranges&etag=x", NULL);
	const char *url = strchr(as.urls.v[0], '?');
	autofree unsigned char *body = origin_body(SIZE);
	char hex[DIGEST_TEXT_MAX];

	leave_part(x, SIZE,
		   arena_printf(x->a, "v2\n%d\n%s\n\n\n" NO_MARKS "end\n%016x %016x\n", SIZE,
				arena_strn(x->a, as.urls.v[0], (size_t)(url - as.urls.v[0])), 0,
				SIZE));
	body[SIZE / 2] ^= 1;
	tmp_write(x->dir, arena_printf(x->a, "cache/partial/sha256-%s", digest_hex(&x->right, hex)),
		  body, SIZE);
	box_must_succeed(x, &as);
	assert_int_equal(box_count_of(x, "/wrong/kubelet"), 1);
	assert_int_equal(box_sent_of(x, "/wrong/kubelet"), SIZE);
}

/* What a record does not vouch for, or only half of one: none of it is used. */
static void test_damaged_part(void **state)
{
#define RUN "0000000000000000 00000000000003e8\n"
	static const char *const records[] = {
		"",
		"v2\n65536\n",
		"v3\n65536\n\n\n\n" NO_MARKS "end\n" RUN,
		"v2\n10\n\n\n\n" NO_MARKS "end\n" RUN,
		"v2\n-1\nhttp://else\n\"a\"\n\n" NO_MARKS "end\n" RUN,
	};
	struct box *x = *state;

	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		const char *path = arena_printf(x->a, "/damaged/%zu", i);
		struct asset as = box_asset_at(x, arena_printf(x->a, "%s?ranges", path), NULL);

		box_open_fetcher(x, x->http);
		leave_part(x, 1000, records[i]);
		box_must_succeed(x, &as);
		assert_int_equal(box_count_of(x, path), 1);
		assert_int_equal(box_sent_of(x, path), SIZE);
		assert_int_equal(walk_remove(x->root_fd, "cache/sha256"), 0);
		assert_int_equal(mkdirat(x->root_fd, "cache/sha256", 0755), 0);
	}
}

/* What an answer to "bytes=30-" means, when 30 bytes of 100 are here. */
static void test_answers(void **state)
{
	static const struct {
		const char *url, *etag, *modified, *range;
		int status;
		enum range_answer answer;
	} cases[] = {
		{ "http://a/x", "etag: \"1\"", "x: y", "content-range: bytes 30-99/100", 206,
		  RANGE_REST },
		{ "http://a/x?k", "etag: \"1\"", "x: y", "content-range: bytes 30-49/*", 206,
		  RANGE_REST },
		{ "http://a/x", "x: y", "x: y", "content-range: bytes 30-99/100", 206, RANGE_REST },
		{ "http://b/x", "etag: \"2\"", "x: y", "content-range: bytes 30-99/100", 206,
		  RANGE_REST },
		{ "http://a/x", "etag: \"2\"", "x: y", "content-range: bytes 30-99/100", 206,
		  RANGE_CHANGED },
		{ "http://a/x", "x: y", "last-modified: Tue", "content-range: bytes 30-99/100", 206,
		  RANGE_CHANGED },
		{ "http://b/x", "x: y", "x: y", "content-range: bytes 30-100/101", 206,
		  RANGE_CHANGED },
		{ "http://a/x", "etag: \"1\"", "x: y", "content-range: bytes 29-99/100", 206,
		  RANGE_REFUSED },
		{ "http://a/x", "etag: \"1\"", "x: y", "content-range: bytes 30-29/100", 206,
		  RANGE_REFUSED },
		{ "http://a/x", "etag: \"1\"", "x: y", "content-range: lines 30-99/100", 206,
		  RANGE_REFUSED },
		{ "http://a/x", "etag: \"1\"", "x: y", "x: y", 206, RANGE_REFUSED },
		{ "http://a/x", "x: y", "x: y", "content-range: bytes */30", 416, RANGE_CHANGED },
		{ "http://a/x", "x: y", "x: y", "content-range: bytes */100", 416, RANGE_REFUSED },
		{ "http://a/x", "x: y", "x: y", "content-range: bytes */31", 416, RANGE_CHANGED },
		{ "http://a/x", "x: y", "x: y", "x: y", 416, RANGE_REFUSED },
		{ "http://a/x", "etag: \"1\"", "x: y", "content-range: bytes 30-99/100", 200,
		  RANGE_WHOLE },
	};
	const struct cache_origin before = { .total = 100,
					     .marks = { { "http://a/x", "\"1\"", "Mon" } } };
	const struct cache_origin unknown = { .total = -1, .marks = { before.marks[0] } };
	const char *end[] = { "content-range: bytes */30", NULL };
	const struct range_asked rest = { "http://b/x", true, 30, 40 };
	struct http_result no_more = { .status = 416, .headers = end, .content_length = -1 };
	struct cache_origin found;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *headers[] = { cases[i].etag, cases[i].modified, cases[i].range, NULL };
		struct http_result res = { .status = cases[i].status,
					   .headers = headers,
					   .content_length = -1 };
		struct cache_origin now;

		struct range_asked asked = { cases[i].url, true, 30, 100 };

		if (range_judge(&before, &asked, &res, &now) != cases[i].answer)
			fail_msg("case %zu", i);
		/* who asked for the whole has no use for a range */
		asked.ranged = false;
		if (cases[i].answer == RANGE_REST)
			assert_int_equal(range_judge(&before, &asked, &res, &now), RANGE_REFUSED);
	}
	assert_int_equal(range_judge(&unknown, &rest, &no_more, &found), RANGE_COMPLETE);
	assert_int_equal(found.total, 30);
	/* each mirror's mark is its own, and all are kept */
	assert_string_equal(range_mark_of(&found, "http://a/x?k")->etag, "\"1\"");
	assert_string_equal(range_mark_of(&found, "http://b/x")->url, "http://b/x");
	assert_null(range_mark_of(&found, "http://c/x"));
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, box_setup, box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_dropped_connections), TEST(test_next_mirror_goes_on),
		TEST(test_next_run_goes_on),    TEST(test_changed_object),
		TEST(test_parts_of_a_liar),     TEST(test_complete_part),
		TEST(test_damaged_part),        TEST(test_complete_and_wrong),
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
