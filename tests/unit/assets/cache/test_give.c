#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/entry.h"
#include "tests/unit/lib/cache_box.h"

static const char target[] = "/usr/program";
static const struct io_attr attr = { .mode = 0755 };

static struct digest hello(void)
{
	struct digest d;

	digest_of(DIGEST_SHA256, "hello", 5, &d);
	return d;
}

static char *entry_path(struct cache_box *b)
{
	const struct digest d = hello();
	char name[CACHE_NAME_MAX];

	return arena_printf(b->a, "/var/cache/nodeup/%s", cache_entry_name(&d, name));
}

static bool give(struct cache_box *b, struct io_stage *s)
{
	const struct digest d = hello();

	if (io_mkdirs(b->root.fd, "/usr", 0755, &b->e) < 0 ||
	    io_stage_open(b->root.fd, target, s, &b->e) < 0)
		fail_msg("%s", b->e.msg);
	return cache_give_away(b->cache, &d, s);
}

static void put_hello(struct cache_box *b)
{
	const struct digest d = hello();

	cache_box_put(b, &d, "hello", 5);
}

static void must_stay(struct cache_box *b)
{
	autostage struct io_stage s = IO_STAGE_INIT;
	const struct digest d = hello();

	assert_false(give(b, &s));
	assert_true(cache_has(b->cache, &d));
}

/* What another process gets that asks for it: 0 or -errno. */
static int ask(struct cache_box *b)
{
	struct cache *other = cache_box_open(b);
	const struct digest d = hello();
	autoclose int fd = -1;
	int r = cache_open(other, &d, &fd, &b->e);

	cache_free(other);
	return r;
}

static void test_the_entry_is_named(void **state)
{
	struct cache_box *b = *state;
	autostage struct io_stage s = IO_STAGE_INIT;
	autofree char *text = NULL;
	struct stat st, was;

	put_hello(b);
	assert_true(scratch_stat(&b->root, entry_path(b), &was));
	assert_true(give(b, &s));
	/* until then it is there, and nobody gets it */
	assert_int_equal(ask(b), -EBUSY);
	assert_int_equal(io_stage_commit(&s, target, &attr, &b->e), 0);
	assert_false(scratch_stat(&b->root, entry_path(b), &st));
	assert_true(scratch_stat(&b->root, target, &st));
	assert_int_equal(st.st_ino, was.st_ino);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(ask(b), -ENOENT);
}

static void test_attributes_stay_behind(void **state)
{
	struct cache_box *b = *state;
	autostage struct io_stage s = IO_STAGE_INIT;
	char names[256];
	autoclose int fd = -1;
	const struct digest d = hello();

	put_hello(b);
	assert_int_equal(io_open(b->root.fd, entry_path(b), O_RDONLY, &fd, &b->e), 0);
	if (fsetxattr(fd, "user.origin", "x", 1, 0) < 0)
		skip();
	/* which changes it: what was noted counts no more, and it is read again */
	cleanup_closep(&fd);
	assert_int_equal(cache_open(b->cache, &d, &fd, &b->e), 0);
	cleanup_closep(&fd);
	assert_true(give(b, &s));
	assert_int_equal(flistxattr(s.fd, names, sizeof(names)), 0);
}

static void test_a_dropped_one_stays(void **state)
{
	struct cache_box *b = *state;
	struct io_stage s = IO_STAGE_INIT;

	put_hello(b);
	assert_true(give(b, &s));
	io_stage_done(&s);
	assert_int_equal(ask(b), 0);
	assert_true(give(b, &s));
	/* what another process put there meanwhile is not ours to give */
	assert_int_equal(unlinkat(s.from_fd, s.name, 0), 0);
	put_hello(b);
	assert_int_equal(io_stage_commit(&s, target, &attr, &b->e), -ESTALE);
	io_stage_done(&s);
	assert_int_equal(ask(b), 0);
}

static void test_what_was_here_stays(void **state)
{
	struct cache_box *b = *state;
	const struct digest d = hello();
	struct err e;

	put_hello(b);
	cache_free(b->cache);
	b->cache = cache_box_open(b);
	must_stay(b);
	/* also if it was damaged, and came again */
	scratch_write(&b->root, entry_path(b), "jello");
	assert_int_equal(cache_inspect(b->cache, &d, CACHE_BY_BYTES, &e).state, CACHE_DAMAGED);
	cache_free(b->cache);
	b->cache = cache_box_open(b);
	put_hello(b);
	must_stay(b);
}

static void test_what_is_asked_for_stays(void **state)
{
	struct cache_box *b = *state;
	struct cache *other = cache_box_open(b);
	const struct digest d = hello();
	int fd = -1;

	put_hello(b);
	assert_int_equal(cache_open(other, &d, &fd, &b->e), 0);
	cache_free(other);
	must_stay(b);
	/* for good: it is in use */
	cleanup_closep(&fd);
	must_stay(b);
}

/* A process that waits for the one which fetches it. */
static void test_what_is_waited_for_stays(void **state)
{
	struct cache_box *b = *state;
	struct cache *other = cache_box_open(b);
	struct cache_writer writer = { .asks = -1 };
	struct cache_entry *en, *none;
	const struct digest d = hello();

	assert_int_equal(cache_resume(b->cache, &d, NULL, &en, &b->e), 0);
	assert_int_equal(cache_resume(other, &d, &writer, &none, &b->e), -EBUSY);
	cache_free(other);
	assert_int_equal(cache_write(en, "hello", 5, &b->e), 0);
	assert_int_equal(cache_commit(en, &b->e), 0);
	must_stay(b);
	cleanup_closep(&writer.asks);
}

static void test_let_go(void **state)
{
	struct cache_box *b = *state;
	const struct digest d = hello();

	put_hello(b);
	cache_let_go(b->cache, &d);
	assert_int_equal(ask(b), -ENOENT);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, cache_box_setup, cache_box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_the_entry_is_named),
		TEST(test_attributes_stay_behind),
		TEST(test_a_dropped_one_stays),
		TEST(test_what_was_here_stays),
		TEST(test_what_is_asked_for_stays),
		TEST(test_what_is_waited_for_stays),
		TEST(test_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
