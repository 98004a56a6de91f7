#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/mismatch.h"
#include "nodeup/base/walk.h"
#include "tests/unit/lib/origin.h"

struct box {
	char dir[64], record[CACHE_NAME_MAX];
	int root_fd;
	struct cache *c;
	struct digest d;
};

static void open_cache(struct box *x, bool create)
{
	struct err e;

	cache_free(x->c);
	x->c = NULL;
	if (cache_new(x->root_fd, "/cache", create, &x->c, &e) < 0)
		fail_msg("%s", e.msg);
}

static int setup(void **state)
{
	struct box *x = xcalloc(1, sizeof(*x));

	tmp_make(x->dir);
	x->root_fd = open(x->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(x->root_fd >= 0);
	digest_of(DIGEST_SHA256, "hello", 5, &x->d);
	cache_side_name("cache/wrong", &x->d, x->record);
	open_cache(x, true);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct box *x = *state;

	cache_free(x->c);
	(void)close(x->root_fd);
	assert_int_equal(walk_remove(AT_FDCWD, x->dir), 0);
	free(x);
	return 0;
}

static void note(struct box *x, const char *url, const char *etag, uint64_t size)
{
	struct cache_mismatch row = { .size = size };

	(void)snprintf(row.etag, sizeof(row.etag), "%s", etag);
	(void)snprintf(row.got, sizeof(row.got), "sha256 of %s", url);
	cache_mismatches_note(x->c, &x->d, url, &row);
}

static void expect(struct box *x, const char *url, const char *etag)
{
	autofree struct cache_mismatches *w = cache_mismatches_load(x->c, &x->d);
	const struct cache_mismatch *row = cache_mismatches_find(w, url);

	if (!etag) {
		assert_null(row);
		return;
	}
	assert_non_null(row);
	assert_string_equal(row->etag, etag);
	assert_true(str_has_suffix(row->got, url));
}

static void test_each_mirror_has_a_row(void **state)
{
	struct box *x = *state;

	expect(x, "http://a/x", NULL);
	note(x, "http://a/x", "\"1\"", 1);
	note(x, "http://b/x", "W/\"2\"", UINT64_MAX);
	note(x, "http://a/x", "\"3\"", 3);
	open_cache(x, true);
	expect(x, "http://a/x", "\"3\"");
	expect(x, "http://b/x", "W/\"2\"");
	expect(x, "http://a/x?query", NULL);
	/* another digest is another record */
	digest_of(DIGEST_SHA256, "other", 5, &x->d);
	expect(x, "http://a/x", NULL);
}

static void test_the_eldest_makes_room(void **state)
{
	struct box *x = *state;
	char url[32];

	for (int i = 0; i < CACHE_MISMATCHES_MAX + 1; i++) {
		(void)snprintf(url, sizeof(url), "http://a/%d", i);
		note(x, url, "\"e\"", 1);
	}
	expect(x, "http://a/0", NULL);
	expect(x, "http://a/1", "\"e\"");
	expect(x, url, "\"e\"");
}

static void test_no_secret_of_a_url_is_written(void **state)
{
	struct box *x = *state;
	char text[4096] = "";
	int fd;

	struct cache_mismatch row = { .etag = "\"e\"", .got = "sha1 00" };

	cache_mismatches_note(x->c, &x->d, "https://me:secret@a/x?X-Amz-Signature=secret", &row);
	fd = openat(x->root_fd, x->record, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	(void)close(fd);
	assert_non_null(strstr(text, "\"e\""));
	assert_null(strstr(text, "secret"));
}

/* Cut anywhere it counts as none, and the next one replaces it. */
static void test_a_damaged_record_is_none(void **state)
{
	struct box *x = *state;
	struct stat st;

	note(x, "http://a/x", "\"1\"", 1);
	assert_int_equal(fstatat(x->root_fd, x->record, &st, 0), 0);
	for (off_t n = st.st_size - 1; n >= 0; n--) {
		int fd = openat(x->root_fd, x->record, O_WRONLY | O_CLOEXEC);

		assert_true(fd >= 0 && ftruncate(fd, n) == 0);
		(void)close(fd);
		expect(x, "http://a/x", NULL);
	}
	note(x, "http://a/x", "\"2\"", 1);
	expect(x, "http://a/x", "\"2\"");
}

static void test_it_goes_after_a_week(void **state)
{
	struct box *x = *state;
	struct timespec days[2] = { 0 };

	note(x, "http://a/x", "\"1\"", 1);
	for (int i = 6; i < 9; i += 2) {
		days[0].tv_sec = days[1].tv_sec = time(NULL) - i * 24 * 3600;
		assert_int_equal(utimensat(x->root_fd, x->record, days, 0), 0);
		open_cache(x, true);
		expect(x, "http://a/x", i < 7 ? "\"1\"" : NULL);
	}
}

static void test_read_only(void **state)
{
	struct box *x = *state;

	note(x, "http://a/x", "\"1\"", 1);
	open_cache(x, false);
	note(x, "http://a/x", "\"2\"", 1);
	cache_mismatches_forget(x->c, &x->d);
	expect(x, "http://a/x", "\"1\"");
	open_cache(x, true);
	cache_mismatches_forget(x->c, &x->d);
	expect(x, "http://a/x", NULL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_each_mirror_has_a_row),         TEST(test_the_eldest_makes_room),
		TEST(test_no_secret_of_a_url_is_written), TEST(test_a_damaged_record_is_none),
		TEST(test_it_goes_after_a_week),          TEST(test_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
