#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include "assets/fetch/parts.h"
#include "nodeup/base/dur.h"
#include "tests/unit/lib/origin.h"

enum { MIB = 1024 * 1024 };

/* A job of 1 GiB of which nothing is here, and a mirror that has given before. */
struct parts {
	char dir[64];
	int root_fd;
	struct fetcher f;
	struct fetch_mirror mirrors[2];
	struct fetch_job j;
};

static int setup(void **state)
{
	const struct cache_origin origin = { .total = (int64_t)1024 * MIB };
	struct parts *x = xcalloc(1, sizeof(*x));
	struct digest d;
	struct err e;

	tmp_make(x->dir);
	x->root_fd = open(x->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(x->root_fd >= 0);
	digest_of(DIGEST_SHA256, "x", 1, &d);
	assert_int_equal(cache_new(x->root_fd, "/cache", true, &x->f.cache, &e), 0);
	fetch_tune(&x->f, &(struct fetch_opts){ 0 });
	x->j = (struct fetch_job){ .fetcher = &x->f, .mirrors = x->mirrors, .nmirrors = 2 };
	for (size_t i = 0; i < 2; i++)
		x->mirrors[i] = (struct fetch_mirror){ .limit = SIZE_MAX, .gave = true };
	assert_int_equal(cache_begin(x->f.cache, &d, &x->j.entry, &e), 0);
	cache_set_origin(x->j.entry, &origin);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct parts *x = *state;

	cache_abort(x->j.entry);
	cache_free(x->f.cache);
	(void)close(x->root_fd);
	tmp_remove(x->dir);
	free(x);
	return 0;
}

static struct fetch_want next(struct parts *x)
{
	struct fetch_want want;

	assert_true(fetch_parts_next(&x->j, dur_now(), &want));
	assert_true(want.ranged);
	return want;
}

/* 8 MiB until a mirror's rate is known, then what it gives in two seconds, from an eighth of that to four
 * times. */
static void test_sizes_by_rate(void **state)
{
	static const struct {
		double rate;
		uint64_t least, most;
	} rows[] = {
		{ 0, 8 * MIB, 8 * MIB },          { 1, MIB, MIB + 1 },
		{ 400 * 1000, MIB, MIB + 1 },     { 2 * MIB, 4 * MIB, 4 * MIB },
		{ 10 * MIB, 20 * MIB, 20 * MIB }, { 16 * MIB, 32 * MIB, 32 * MIB },
		{ 1e9, 32 * MIB, 32 * MIB },
	};
	struct parts *x = *state;

	x->j.nmirrors = 1;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct fetch_want want;

		x->mirrors[0].rate = rows[i].rate;
		want = next(x);
		assert_int_equal(want.first, 0);
		assert_in_range(want.end, rows[i].least, rows[i].most);
	}
}

/* Each mirror by its own: while the slow one has a part under way, the other is asked for what follows. */
static void test_each_by_its_own_rate(void **state)
{
	struct parts *x = *state;
	struct fetch_part part = { .job = &x->j, .mirror = 0 };
	struct fetch_want want;

	x->mirrors[0].rate = 1000;
	x->mirrors[1].rate = 1e9;
	want = next(x);
	assert_int_equal(want.mirror, 0);
	part.pos = want.first;
	part.end = want.end;
	x->j.parts = &part;
	x->mirrors[0].active = 1;
	want = next(x);
	assert_int_equal(want.mirror, 1);
	assert_int_equal(want.first, part.end);
	assert_int_equal(want.end - want.first, 32 * MIB);
	x->j.parts = NULL;
}

/* Never beyond the end, nor over what is here. */
static void test_no_byte_twice(void **state)
{
	struct parts *x = *state;
	struct fetch_want want;
	struct err e;

	x->mirrors[0].rate = x->mirrors[1].rate = 1e9;
	assert_int_equal(cache_write_at(x->j.entry, 5 * MIB, "x", 1, &e), 0);
	want = next(x);
	assert_int_equal(want.first, 0);
	assert_int_equal(want.end, 5 * MIB);
	cache_set_origin(x->j.entry, &(struct cache_origin){ .total = 3 * MIB });
	assert_int_equal(next(x).end, 3 * MIB);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sizes_by_rate),
		TEST(test_each_by_its_own_rate),
		TEST(test_no_byte_twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
