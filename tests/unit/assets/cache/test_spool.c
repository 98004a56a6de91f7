#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "assets/cache/entry.h"
#include "assets/cache/spool.h"
#include "nodeup/base/walk.h"
#include "tests/unit/lib/scratch.h"

/* A node with a cache on its disk, and memory for its spool. */
struct node {
	struct scratch root;
	char memory[64], spool[96]; /* of the host: /dev/shm is in memory everywhere */
	struct cache *cache;
	struct digest d;
	struct arena *a;
	struct err e;
};

static int host_fd = -1;

static void open_cache(struct node *n, const char *spool)
{
	if (cache_new_own(n->root.fd, "/var/cache/nodeup", true, &n->cache, &n->e) < 0)
		fail_msg("%s", n->e.msg);
	cache_spool_at(n->cache, host_fd, spool, true);
}

static void open_again(struct node *n)
{
	cache_free(n->cache);
	open_cache(n, n->spool);
}

static int setup(void **state)
{
	struct node *n = xcalloc(1, sizeof(*n));

	host_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(host_fd >= 0);
	scratch_new(&n->root);
	n->a = arena_new_empty();
	(void)snprintf(n->memory, sizeof(n->memory), "/dev/shm/nodeup-test-XXXXXX");
	assert_non_null(mkdtemp(n->memory));
	(void)snprintf(n->spool, sizeof(n->spool), "%s/run/spool", n->memory);
	digest_of(DIGEST_SHA256, "hello", 5, &n->d);
	open_cache(n, n->spool);
	*state = n;
	return 0;
}

static int teardown(void **state)
{
	struct node *n = *state;

	cache_free(n->cache);
	assert_int_equal(walk_remove(AT_FDCWD, n->memory), 0);
	(void)close(host_fd);
	arena_free(n->a);
	scratch_done(&n->root);
	free(n);
	return 0;
}

/* Whether the host has it. */
static bool is_in(const char *top, const char *folder, const struct node *n)
{
	char hex[DIGEST_TEXT_MAX];
	autofree char *path = xasprintf("%s/%s%s", top, folder, digest_hex(&n->d, hex));

	return access(path, F_OK) == 0;
}

static bool is_in_spool(const struct node *n)
{
	return is_in(n->spool, "sha256/", n);
}

static bool is_on_disk(const struct node *n)
{
	autofree char *top = xasprintf("%s/var/cache/nodeup", n->root.path);

	return is_in(top, "sha256/", n);
}

static struct cache_entry *begin(struct node *n, int64_t total)
{
	const struct cache_origin origin = { .total = total, .marks = { { "http://a/b" } } };
	struct cache_entry *en;

	if (cache_resume(n->cache, &n->d, cache_spool_to_fill(n->cache), NULL, &en, &n->e) < 0)
		fail_msg("%s", n->e.msg);
	cache_set_origin(en, &origin);
	return en;
}

static void fetch(struct node *n, int64_t total)
{
	struct cache_entry *en = begin(n, total);

	assert_int_equal(cache_write(en, "hello", 5, &n->e), 0);
	assert_int_equal(cache_commit(en, &n->e), 0);
}

static void must_be_read(struct node *n)
{
	autoclose int fd = -1;
	char bytes[8];

	assert_true(cache_has(n->cache, &n->d));
	assert_int_equal(cache_inspect(n->cache, &n->d, CACHE_BY_RECORD, &n->e).state, CACHE_RIGHT);
	assert_int_equal(cache_inspect(n->cache, &n->d, CACHE_BY_BYTES, &n->e).state, CACHE_RIGHT);
	assert_int_equal(cache_open(n->cache, &n->d, &fd, &n->e), 0);
	assert_int_equal(read(fd, bytes, sizeof(bytes)), 5);
	assert_memory_equal(bytes, "hello", 5);
}

static void test_it_waits_and_moves(void **state)
{
	struct node *n = *state;
	struct cache_spooled all;

	fetch(n, 5);
	assert_true(is_in_spool(n) && !is_on_disk(n));
	must_be_read(n);
	/* for the next process as well */
	open_again(n);
	must_be_read(n);
	all = cache_spooled(n->cache, n->a);
	assert_int_equal(all.n, 1);
	assert_true(digest_eq(&all.v[0], &n->d));
	/* what waits keeps its directory */
	cache_spool_end(n->cache, true);
	open_again(n);
	assert_true(is_in_spool(n));
	assert_int_equal(cache_unspool(n->cache, &n->d, &n->e), 0);
	assert_true(!is_in_spool(n) && is_on_disk(n));
	must_be_read(n);
	assert_int_equal(cache_spooled(n->cache, n->a).n, 0);
	cache_spool_end(n->cache, false);
	assert_int_equal(access(n->spool, F_OK), -1);
	/* and it is made again when it is needed */
	digest_of(DIGEST_SHA256, "hullo", 5, &n->d);
	open_again(n);
	cache_abort(begin(n, 5));
	assert_int_equal(access(n->spool, F_OK), 0);
}

/* A size that is not known, or is too much, leads to the disk. */
static void test_what_has_no_room_there(void **state)
{
	const int64_t sizes[] = { -1, INT64_C(1) << 50 };
	struct node *n = *state;

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct cache_entry *en = begin(n, sizes[i]);

		assert_false(is_in(n->spool, "partial/sha256-", n));
		assert_int_equal(cache_write(en, "hello", 5, &n->e), 0);
		assert_int_equal(cache_commit(en, &n->e), 0);
		assert_true(!is_in_spool(n) && is_on_disk(n));
		must_be_read(n);
		cache_entry_drop(n->cache, &n->d);
	}
}

/* Together they may not take too much either; what is given up is given back. */
static void test_all_of_them_together(void **state)
{
	struct node *n = *state;
	struct cache_entry *held[64];
	size_t n_held = 0;
	int64_t size = INT64_C(1) << 20;
	char text[32];

	for (; n_held < ARRAY_LEN(held); n_held++, size *= 2) {
		(void)snprintf(text, sizeof(text), "asset %zu", n_held);
		digest_of(DIGEST_SHA256, text, strlen(text), &n->d);
		held[n_held] = begin(n, size);
		if (!is_in(n->spool, "partial/sha256-", n))
			break;
	}
	assert_true(n_held > 0 && n_held < ARRAY_LEN(held));
	for (size_t i = 0; i <= n_held; i++)
		cache_abort(held[i]);
	/* the largest that went there */
	held[0] = begin(n, size / 2);
	assert_true(is_in(n->spool, "partial/sha256-", n));
	cache_abort(held[0]);
}

static void test_no_memory_there(void **state)
{
	struct node *n = *state;
	autofree char *on_disk = xasprintf("%s/spool", n->root.path);

	cache_free(n->cache);
	open_cache(n, on_disk);
	fetch(n, 5);
	assert_true(is_on_disk(n));
	assert_int_equal(access(on_disk, F_OK), -1);
}

/* What has begun on the disk goes on there; what has begun in memory does there. */
static void test_it_goes_on_where_it_was(void **state)
{
	const struct cache_origin origin = { .total = 5, .marks = { { "http://a/b" } } };
	struct node *n = *state;
	struct extract_piece piece;
	struct cache_entry *en;
	char back[8];

	assert_int_equal(cache_resume(n->cache, &n->d, NULL, NULL, &en, &n->e), 0);
	cache_set_origin(en, &origin);
	assert_int_equal(cache_write(en, "hel", 3, &n->e), 0);
	cache_suspend(en);
	en = begin(n, 5);
	assert_int_equal(cache_spans(en)->sum, 3);
	cache_abort(en);

	en = begin(n, 5);
	assert_int_equal(cache_write(en, "hel", 3, &n->e), 0);
	cache_suspend(en);
	open_again(n);
	assert_true(is_in(n->spool, "partial/sha256-", n));
	cache_spool_end(n->cache, false);
	open_again(n);
	en = begin(n, 5);
	assert_int_equal(cache_spans(en)->sum, 3);
	assert_int_equal(cache_write_at(en, 3, "lo", 2, &n->e), 0);
	assert_int_equal(cache_follow(en, back, sizeof(back), &piece, &n->e), 0);
	assert_int_equal(cache_commit(en, &n->e), 0);
	assert_true(is_in_spool(n));
	must_be_read(n);
}

/* What cannot be moved leaves the memory all the same. */
static void test_what_cannot_be_moved(void **state)
{
	struct node *n = *state;
	struct rlimit unlimited, none = { .rlim_cur = 2, .rlim_max = RLIM_INFINITY };

	fetch(n, 5);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
	none.rlim_max = unlimited.rlim_max;
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_true(cache_unspool(n->cache, &n->d, &n->e) < 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
	assert_true(!is_in_spool(n) && !is_on_disk(n));
	assert_false(cache_has(n->cache, &n->d));
}

/* Bytes that are not those any more never get to the disk. */
static void test_what_was_changed(void **state)
{
	char hex[DIGEST_TEXT_MAX];
	struct node *n = *state;
	autofree char *path = xasprintf("%s/sha256/%s", n->spool, digest_hex(&n->d, hex));
	int fd;

	fetch(n, 5);
	assert_int_equal(chmod(path, 0644), 0);
	fd = open(path, O_WRONLY);
	assert_int_equal(pwrite(fd, "HELLO", 5, 0), 5);
	(void)close(fd);
	assert_true(cache_unspool(n->cache, &n->d, &n->e) < 0);
	assert_true(!is_in_spool(n) && !is_on_disk(n));
}

/* As another process would. */
static void end_elsewhere(struct node *n)
{
	struct cache *other;

	assert_int_equal(cache_new_own(n->root.fd, "/var/cache/nodeup", true, &other, &n->e), 0);
	cache_spool_at(other, host_fd, n->spool, true);
	cache_spool_end(other, true);
	cache_free(other);
}

/* A part that is left of a download goes with the last run; one that a process writes stays. */
static void test_parts_that_are_left(void **state)
{
	struct node *n = *state;
	struct cache_entry *en = begin(n, 5);
	char hex[DIGEST_TEXT_MAX], map[512];

	assert_int_equal(cache_write(en, "hel", 3, &n->e), 0);
	(void)snprintf(map, sizeof(map), "%s/partial/sha256-%s.from", n->spool,
		       digest_hex(&n->d, hex));
	assert_int_equal(access(map, F_OK), 0);
	end_elsewhere(n);
	assert_true(is_in(n->spool, "partial/sha256-", n));
	assert_int_equal(access(map, F_OK), 0);
	cache_suspend(en);
	assert_true(is_in(n->spool, "partial/sha256-", n));
	end_elsewhere(n);
	assert_int_equal(access(n->spool, F_OK), -1);
}

/* Another process has removed the directory: all goes to the disk, where it can be gone on with. */
static void test_a_spool_that_is_removed(void **state)
{
	struct node *n = *state;
	struct cache_entry *en;

	cache_abort(begin(n, 5));
	assert_int_equal(walk_remove(AT_FDCWD, n->spool), 0);
	en = begin(n, 5);
	assert_int_equal(cache_write(en, "hel", 3, &n->e), 0);
	cache_suspend(en);
	en = begin(n, 5);
	assert_int_equal(cache_spans(en)->sum, 3);
	cache_abort(en);
	assert_true(cache_unspool(n->cache, &n->d, &n->e) < 0);
}

/* It cannot be opened: its owner left it open to others, say. What waits there is not moved, and that is said. */
static void test_a_spool_that_is_refused(void **state)
{
	struct node *n = *state;

	fetch(n, 5);
	assert_int_equal(chmod(n->spool, 0777), 0);
	open_again(n);
	assert_false(cache_has_spool(n->cache));
	assert_true(cache_unspool(n->cache, &n->d, &n->e) < 0);
}

/* What the disk has already is not copied once more. */
static void test_what_is_there_already(void **state)
{
	struct node *n = *state;
	struct cache_entry *en;
	struct stat before, after;
	char hex[DIGEST_TEXT_MAX];
	autofree char *path =
		xasprintf("%s/var/cache/nodeup/sha256/%s", n->root.path, digest_hex(&n->d, hex));

	fetch(n, 5);
	assert_int_equal(cache_begin(n->cache, &n->d, &en, &n->e), 0);
	assert_int_equal(cache_write(en, "hello", 5, &n->e), 0);
	assert_int_equal(cache_commit(en, &n->e), 0);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(cache_unspool(n->cache, &n->d, &n->e), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_true(before.st_ino == after.st_ino && !is_in_spool(n));
}

/* There is no room in memory, and another process writes the part on the disk: an entry beside it. */
static void test_no_room_and_no_part(void **state)
{
	struct node *n = *state;
	struct cache_entry *other, *en;
	const struct cache_origin large = { .total = INT64_C(1) << 50,
					    .marks = { { "http://a/b" } } };

	assert_int_equal(
		cache_resume(n->cache, &n->d, cache_spool_to_fill(n->cache), NULL, &en, &n->e), 0);
	assert_int_equal(cache_resume(n->cache, &n->d, NULL, NULL, &other, &n->e), 0);
	cache_set_origin(en, &large);
	assert_false(is_in(n->spool, "partial/sha256-", n));
	assert_int_equal(cache_write(en, "hello", 5, &n->e), 0);
	cache_abort(other);
	assert_int_equal(cache_commit(en, &n->e), 0);
	assert_true(is_on_disk(n));
}

/* A cache without a spool, such as that of bake, does not take what waits for its own. */
static void test_without_a_spool(void **state)
{
	struct node *n = *state;

	fetch(n, 5);
	cache_free(n->cache);
	assert_int_equal(cache_new_own(n->root.fd, "/var/cache/nodeup", true, &n->cache, &n->e), 0);
	assert_false(cache_has(n->cache, &n->d));
	assert_int_equal(cache_spooled(n->cache, n->a).n, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_it_waits_and_moves),      TEST(test_what_has_no_room_there),
		TEST(test_all_of_them_together),    TEST(test_no_memory_there),
		TEST(test_it_goes_on_where_it_was), TEST(test_what_cannot_be_moved),
		TEST(test_what_was_changed),        TEST(test_parts_that_are_left),
		TEST(test_a_spool_that_is_removed), TEST(test_a_spool_that_is_refused),
		TEST(test_what_is_there_already),   TEST(test_no_room_and_no_part),
		TEST(test_without_a_spool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
