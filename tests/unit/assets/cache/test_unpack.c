#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/unpack.h"
#include "nodeup/base/walk.h"
#include "tests/unit/lib/dir.h"
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/tar.h"

/* A cache, and an archive in memory. */
struct box {
	char dir[64];
	int root_fd;
	struct cache *c;
	struct arena *a;
	struct buf archive;
	struct asset as;
};

static int setup(void **state)
{
	struct box *x = xcalloc(1, sizeof(*x));
	struct err e;

	tmp_make(x->dir);
	x->root_fd = open(x->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(cache_new(x->root_fd, "/cache", true, &x->c, &e), 0);
	x->a = arena_new_empty();
	x->archive = TAR_BUF;
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct box *x = *state;

	cache_free(x->c);
	(void)close(x->root_fd);
	arena_free(x->a);
	buf_done(&x->archive);
	assert_int_equal(walk_remove(AT_FDCWD, x->dir), 0);
	free(x);
	return 0;
}

static void end_archive(struct box *x)
{
	tar_end(&x->archive);
	tar_gzip(&x->archive);
	x->as = (struct asset){ .name = "cni.tar.gz", .form = ASSET_TAR_GZ };
	digest_of(DIGEST_SHA1, x->archive.data, x->archive.len, &x->as.digest);
}

/* Noise, so that an archive is more than what a pipe holds. */
static char *noise(struct box *x, size_t n)
{
	char *p = arena_alloc(x->a, n + 1);
	uint32_t seed = 1;

	for (size_t i = 0; i < n; i++) {
		seed = seed * 1664525 + 1013904223;
		p[i] = (char)('!' + (seed >> 24) % 90);
	}
	return p;
}

static void good_archive(struct box *x)
{
	tar_add(&x->archive, &(struct tar_entry){ .name = "bin/", .type = '5', .mode = 0755 });
	tar_add(&x->archive, &(struct tar_entry){ .name = "bin/bridge",
						  .type = '0',
						  .mode = 0755,
						  .data = noise(x, 2000000) });
	tar_add(&x->archive,
		&(struct tar_entry){ .name = "bin/alias", .type = '2', .link = "bridge" });
	tar_add(&x->archive, &(struct tar_entry){ .name = "last", .type = '0', .data = "x" });
	/* whoever inflates may keep as much to itself until the end */
	tar_add(&x->archive,
		&(struct tar_entry){ .name = "more", .type = '0', .data = noise(x, 500000) });
	end_archive(x);
}

static char *path_of(struct box *x, const char *name)
{
	return arena_printf(x->a, "%s/cache/%s", x->dir, name);
}

/* Feed from..to in pieces of an odd size; 0 or the first error. */
static int feed(struct extract *u, const struct buf *b, size_t from, size_t to, struct err *e)
{
	int r = 0;

	for (size_t at = from; at < to && r == 0; at += 7001)
		r = extract_feed(u,
				 &(struct extract_piece){ b->data + at,
							  to - at < 7001 ? to - at : 7001, -1, 0 },
				 e);
	return r;
}

static struct extract *begin(struct box *x, struct extract_take *takes, size_t n)
{
	struct extract *u;
	struct err e;

	if (cache_take_start(x->a, &x->as, takes, n, &u, &e) < 0)
		fail_msg("%s", e.msg);
	return u;
}

/* Feed all of it: the verdict. */
static int feed_all(struct box *x, struct extract *u, struct err *e)
{
	const int r = feed(u, &x->archive, 0, x->archive.len, e);

	if (r >= 0)
		return extract_finish(u, e);
	extract_abort(u);
	return r;
}

static struct extract_take wanted(const char *member)
{
	return (struct extract_take){ .member = member, .fd = memfd_create("m", MFD_CLOEXEC) };
}

static void test_streamed(void **state)
{
	struct box *x = *state;
	struct extract_take takes[] = { wanted("bridge"), wanted("alias"), wanted("none") };
	struct stat st;
	struct err e;

	good_archive(x);
	if (feed_all(x, begin(x, takes, 3), &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(takes[0].path, "bin/bridge");
	assert_int_equal(fstat(takes[0].fd, &st), 0);
	assert_int_equal(st.st_size, 2000000);
	assert_string_equal(takes[1].target, "bridge");
	assert_null(takes[2].path);
	for (size_t i = 0; i < 3; i++)
		(void)close(takes[i].fd);
}

static void add_archive_to_cache(struct box *x)
{
	struct cache_entry *en;
	struct err e;

	if (cache_begin(x->c, &x->as.digest, &en, &e) < 0 ||
	    cache_write(en, x->archive.data, x->archive.len, &e) < 0 || cache_commit(en, &e) < 0)
		fail_msg("%s", e.msg);
}

/* From the entry alone, and only while that is what was verified. */
static void test_from_the_entry(void **state)
{
	struct box *x = *state;
	struct extract_take one = wanted("bridge");
	char name[CACHE_NAME_MAX];
	struct err e;

	good_archive(x);
	assert_int_equal(cache_take(x->c, x->a, &x->as, &one, 1, &e), -ENOENT);
	add_archive_to_cache(x);
	if (cache_take(x->c, x->a, &x->as, &one, 1, &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(one.path, "bin/bridge");
	assert_int_equal(truncate(path_of(x, cache_entry_name(&x->as.digest, name)), 100), 0);
	assert_int_equal(cache_take(x->c, x->a, &x->as, &one, 1, &e), -ENOENT);
	(void)close(one.fd);
}

static void test_record(void **state)
{
	struct box *x = *state;

	good_archive(x);
	assert_null(cache_members_read(x->c, x->a, &x->as.digest));
	cache_members_write(x->c, &x->as.digest, "- bridge\n");
	assert_string_equal(cache_members_read(x->c, x->a, &x->as.digest), "- bridge\n");
}

static void test_name_of_4096_bytes(void **state)
{
	struct box *x = *state;
	char name[4097];
	struct extract *u;
	struct err e = { 0 };
	int r;

	for (size_t n = 0; n < 4096; n++)
		name[n] = n % 255 == 254 ? '/' : 'n';
	name[4096] = '\0';
	tar_add(&x->archive, &(struct tar_entry){ .name = name, .type = '0' });
	end_archive(x);
	u = begin(x, NULL, 0);
	r = feed_all(x, u, &e);
	assert_true(r < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	assert_non_null(strstr(e.msg, "refused: the name has more than 4095 bytes"));
}

/* 201 000 entries in half a megabyte. */
static void test_too_many(void **state)
{
	struct box *x = *state;
	autobuf struct buf part = TAR_BUF;
	struct extract *u;
	struct err e = { 0 };
	int r;

	for (int i = 0; i < 1000; i++)
		tar_add(&part, &(struct tar_entry){ .name = "d/", .type = '5' });
	tar_gzip(&part);
	for (int i = 0; i < 201; i++)
		assert_int_equal(buf_add(&x->archive, part.data, part.len), 0);
	x->as = (struct asset){ .name = "many.tar.gz", .form = ASSET_TAR_GZ };
	digest_of(DIGEST_SHA1, x->archive.data, x->archive.len, &x->as.digest);
	u = begin(x, NULL, 0);
	r = feed_all(x, u, &e);
	assert_true(r < 0 && e.kind == ERR_INTEGRITY);
	if (!strstr(e.msg, "entry 'd/' refused: the archive has more entries than allowed"))
		fail_msg("%s", e.msg);
}

/* The child's reason, whenever who feeds hears of it. */
static void test_refused_while_fed(void **state)
{
	struct box *x = *state;
	struct extract *u;
	struct err e;
	int r;

	tar_add(&x->archive, &(struct tar_entry){ .name = "good", .type = '0', .data = "x" });
	tar_add(&x->archive, &(struct tar_entry){ .name = "../evil", .type = '0', .data = "x" });
	tar_add(&x->archive,
		&(struct tar_entry){ .name = "big", .type = '0', .data = noise(x, 3000000) });
	end_archive(x);
	u = begin(x, NULL, 0);
	r = feed_all(x, u, &e);
	assert_true(r < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	if (!strstr(e.msg, "entry '../evil' refused: '..' in the name"))
		fail_msg("%s", e.msg);
}

/* Half an archive is refused as such when no more comes. */
static void test_truncated(void **state)
{
	struct box *x = *state;
	struct extract *u;
	struct err e;

	good_archive(x);
	u = begin(x, NULL, 0);
	assert_int_equal(feed(u, &x->archive, 0, x->archive.len / 2, &e), 0);
	assert_true(extract_finish(u, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
}

/* Somebody kills the child: an error that may be tried again, no hang. */
static void test_killed_child(void **state)
{
	struct box *x = *state;
	struct extract *ex;
	struct err e = { 0 };
	int r = 0;

	good_archive(x);
	ex = begin(x, NULL, 0);
	assert_int_equal(kill(extract_pid(ex), SIGKILL), 0);
	while (r == 0)
		r = extract_feed(
			ex, &(struct extract_piece){ x->archive.data, x->archive.len, -1, 0 }, &e);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_non_null(strstr(e.msg, "'cni.tar.gz': the unpacker was killed: Killed"));
	assert_true(err_is_transient(&e));
	extract_abort(ex);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_streamed),           TEST(test_from_the_entry), TEST(test_record),
		TEST(test_refused_while_fed),  TEST(test_truncated),      TEST(test_killed_child),
		TEST(test_name_of_4096_bytes), TEST(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
