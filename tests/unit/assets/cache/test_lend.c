#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/cache/lend.h"
#include "tests/unit/lib/scratch.h"

/* A node with its own cache, and "hello" in it. */
struct node {
	struct scratch root;
	struct cache *cache;
	struct digest d;
	struct arena *a;
	struct err e;
};

static const char installed[] = "/usr/local/bin/hello";
static const struct io_attr executable = { .mode = 0755 };

static void put(struct node *n)
{
	struct cache_entry *en;

	if (cache_begin(n->cache, &n->d, &en, &n->e) < 0 ||
	    cache_write(en, "hello", 5, &n->e) < 0 || cache_commit(en, &n->e) < 0)
		fail_msg("%s", n->e.msg);
}

static int setup(void **state)
{
	struct node *n = xcalloc(1, sizeof(*n));

	scratch_new(&n->root);
	n->a = arena_new_empty();
	digest_of(DIGEST_SHA256, "hello", 5, &n->d);
	if (cache_new_own(n->root.fd, "/var/cache/nodeup", true, &n->cache, &n->e) < 0 ||
	    io_mkdirs(n->root.fd, "/usr/local/bin", 0755, &n->e) < 0)
		fail_msg("%s", n->e.msg);
	put(n);
	*state = n;
	return 0;
}

static int teardown(void **state)
{
	struct node *n = *state;

	cache_free(n->cache);
	arena_free(n->a);
	scratch_done(&n->root);
	free(n);
	return 0;
}

static void stage(struct node *n, struct io_stage *s)
{
	if (io_stage_open(n->root.fd, installed, s, &n->e) < 0)
		fail_msg("%s", n->e.msg);
}

/* As a run installs it, up to its name. */
static void install(struct node *n)
{
	autostage struct io_stage s = IO_STAGE_INIT;

	stage(n, &s);
	assert_int_equal(cache_lend(n->cache, &n->d, installed, &s), 0);
	assert_int_equal(io_stage_commit(&s, installed, &executable, &n->e), 0);
}

static struct stat look(struct node *n, const char *path)
{
	struct stat st = { 0 };

	(void)scratch_stat(&n->root, path, &st);
	return st;
}

static struct stat look_at_entry(struct node *n)
{
	char hex[DIGEST_TEXT_MAX];

	return look(n, arena_printf(n->a, "/var/cache/nodeup/sha256/%s", digest_hex(&n->d, hex)));
}

static int take_back(struct node *n)
{
	const struct cache_loans loans = cache_loans(n->cache, n->a);

	assert_int_equal(loans.n, 1);
	assert_true(digest_eq(&loans.v[0].digest, &n->d));
	assert_string_equal(loans.v[0].path, installed);
	return cache_take_back(n->cache, n->root.fd, &loans.v[0], &n->e);
}

/* The cache has bytes of its own, which count without being read, and nothing is lent any more. */
static void must_be_whole(struct node *n)
{
	assert_true(cache_has(n->cache, &n->d));
	assert_int_equal(look_at_entry(n).st_nlink, 1);
	assert_int_not_equal(look_at_entry(n).st_ino, look(n, installed).st_ino);
	assert_int_equal(look(n, installed).st_nlink, 1);
	assert_int_equal(cache_loans(n->cache, n->a).n, 0);
}

static void the_entry_becomes_the_file_and_comes_back(void **state)
{
	struct node *n = *state;
	const ino_t before = look_at_entry(n).st_ino;
	autofree char *text = NULL;

	install(n);
	cache_lent(n->cache, &n->d);
	assert_int_equal(look(n, installed).st_ino, before);
	assert_int_equal(look(n, installed).st_nlink, 1);
	assert_int_equal(look(n, installed).st_mode & 07777, 0755);
	assert_false(cache_has(n->cache, &n->d));
	assert_int_equal(scratch_count(&n->root, "/usr/local/bin"), 1);
	assert_int_equal(take_back(n), 0);
	must_be_whole(n);
	text = scratch_read(&n->root, installed);
	assert_string_equal(text, "hello");
}

/* A kill after the rename, with both names there. */
static void it_comes_back_from_a_file_that_is_still_the_entry(void **state)
{
	struct node *n = *state;

	install(n);
	assert_int_equal(look_at_entry(n).st_nlink, 2);
	assert_int_equal(take_back(n), 0);
	must_be_whole(n);
}

/* A kill before the rename: the staging file is swept, and the entry was there all the time. */
static void what_was_never_installed_stays_an_entry(void **state)
{
	struct node *n = *state;
	autostage struct io_stage s = IO_STAGE_INIT;
	autoclose int fd = -1;

	stage(n, &s);
	assert_int_equal(cache_lend(n->cache, &n->d, installed, &s), 0);
	io_stage_done(&s);
	assert_int_equal(take_back(n), 0);
	assert_int_equal(cache_loans(n->cache, n->a).n, 0);
	assert_int_equal(cache_open(n->cache, &n->d, &fd, &n->e), 0);
	assert_true(cache_has(n->cache, &n->d));
}

/* Neither wrong bytes nor their note stay: the asset is fetched when it is needed. */
static void what_was_changed_meanwhile_is_no_entry(void **state)
{
	struct node *n = *state;

	install(n);
	cache_lent(n->cache, &n->d);
	scratch_write(&n->root, installed, "jello");
	assert_true(take_back(n) < 0);
	assert_int_equal(n->e.kind, ERR_INTEGRITY);
	assert_int_equal(look_at_entry(n).st_nlink, 0);
	assert_int_equal(cache_loans(n->cache, n->a).n, 0);
}

/* An entry that another program may write to, by another name or by its mode, is copied. */
static void only_an_entry_of_its_own_is_lent(void **state)
{
	struct node *n = *state;
	char hex[DIGEST_TEXT_MAX];
	const char *entry =
		arena_printf(n->a, "var/cache/nodeup/sha256/%s", digest_hex(&n->d, hex));
	autostage struct io_stage s = IO_STAGE_INIT;
	ino_t before;

	stage(n, &s);
	before = look(n, arena_printf(n->a, "/usr/local/bin/%s", s.name)).st_ino;
	assert_int_equal(linkat(n->root.fd, entry, n->root.fd, "usr/other", 0), 0);
	assert_int_equal(cache_lend(n->cache, &n->d, installed, &s), -EPERM);
	assert_int_equal(unlinkat(n->root.fd, "usr/other", 0), 0);
	assert_int_equal(fchmodat(n->root.fd, entry, 0666, 0), 0);
	assert_int_equal(cache_lend(n->cache, &n->d, installed, &s), -EPERM);
	assert_int_equal(cache_loans(n->cache, n->a).n, 0);
	assert_int_equal(look(n, arena_printf(n->a, "/usr/local/bin/%s", s.name)).st_ino, before);
}

#define NODE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(the_entry_becomes_the_file_and_comes_back),
		NODE_TEST(it_comes_back_from_a_file_that_is_still_the_entry),
		NODE_TEST(what_was_never_installed_stays_an_entry),
		NODE_TEST(what_was_changed_meanwhile_is_no_entry),
		NODE_TEST(only_an_entry_of_its_own_is_lent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
