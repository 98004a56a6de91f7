#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include "assets/cache/lend.h"
#include "assets/cache/tree.h"
#include "tests/unit/lib/scratch.h"
#include "tests/unit/lib/tar.h"

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

static void put(struct node *n, const struct digest *d, const void *bytes, size_t size)
{
	struct cache_entry *en;

	if (cache_begin(n->cache, d, &en, &n->e) < 0 || cache_write(en, bytes, size, &n->e) < 0 ||
	    cache_commit(en, &n->e) < 0)
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
	put(n, &n->d, "hello", 5);
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
/* A copy has none, and a change of the name takes none away. */
static void what_has_capabilities_is_not_lent(void **state)
{
	/* cap_net_raw, permitted and effective: version 2 of the attribute */
	static const unsigned char capability[20] = { 1, 0, 0, 2, 0, 0x20 };
	struct node *n = *state;
	autostage struct io_stage s = IO_STAGE_INIT;
	autoclose int fd = -1;

	if (cache_open(n->cache, &n->d, &fd, &n->e) < 0)
		fail_msg("%s", n->e.msg);
	if (fsetxattr(fd, "security.capability", capability, sizeof(capability), 0) < 0)
		skip();
	stage(n, &s);
	assert_int_equal(cache_lend(n->cache, &n->d, installed, &s), -EPERM);
}

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

static struct asset archive = { .name = "bin.tar.gz", .form = ASSET_TAR_GZ };

/* The path of what is unpacked, below the root. */
static const char *member(struct node *n, const char *name)
{
	return arena_printf(n->a, "%s/%s", cache_unpacked_path(n->cache, n->a, &archive.digest),
			    name);
}

/* "hello" and another one, in an archive that the cache has unpacked. */
static void unpack(struct node *n)
{
	autobuf struct buf b = TAR_BUF;

	tar_add(&b, &(struct tar_entry){ "hello", '0', NULL, 0755, "hello", 0 });
	tar_add(&b, &(struct tar_entry){ "last", '0', NULL, 0755, "x", 0 });
	tar_end(&b);
	tar_gzip(&b);
	digest_of(DIGEST_SHA256, b.data, b.len, &archive.digest);
	put(n, &archive.digest, b.data, b.len);
	assert_int_equal(cache_unpack(n->cache, &archive, &n->e), 0);
}

/* Install the member there; what cache_share_member says. */
static int share(struct node *n, const char *name, const char *path, const struct io_attr *attr)
{
	autostage struct io_stage s = IO_STAGE_INIT;
	autoclose int fd = -1;
	int r;

	assert_int_equal(io_open_file(n->root.fd, member(n, name), &fd, &n->e), 0);
	assert_int_equal(io_stage_open(n->root.fd, path, &s, &n->e), 0);
	r = cache_share_member(n->cache, &archive, fd, attr, &s);
	if (r == 0)
		assert_int_equal(io_stage_commit(&s, path, attr, &n->e), 0);
	return r;
}

/* Whether another process would believe the tree. */
static bool is_known(struct node *n)
{
	struct cache *other;
	bool is;

	assert_int_equal(cache_new_own(n->root.fd, "/var/cache/nodeup", false, &other, &n->e), 0);
	is = cache_has_tree(other, &archive);
	cache_free(other);
	return is;
}

/* Another name for a member changes nothing of what was unpacked, for this run and for the next. */
static void a_member_is_shared(void **state)
{
	struct node *n = *state;

	unpack(n);
	assert_int_equal(share(n, "hello", installed, &executable), 0);
	assert_int_equal(look(n, installed).st_ino, look(n, member(n, "hello")).st_ino);
	assert_int_equal(scratch_count(&n->root, "/usr/local/bin"), 1);
	assert_true(cache_has_tree(n->cache, &archive));
	assert_int_equal(cache_settle(n->cache, &n->e), 0);
	assert_true(cache_has_tree(n->cache, &archive));
	assert_true(is_known(n));
	/* a second file is not tied to the first */
	assert_int_equal(share(n, "hello", "/usr/local/bin/other", &executable), -EMLINK);
}

static void only_a_member_that_is_as_wanted_is_shared(void **state)
{
	static const struct io_attr closed = { .mode = 0700 }, given = { .mode = 0755, .uid = 1 };
	struct node *n = *state;

	unpack(n);
	assert_int_equal(share(n, "hello", installed, &closed), -EPERM);
	assert_int_equal(share(n, "hello", installed, &given), -EPERM);
	/* a tree that was changed may be of anything */
	assert_int_equal(fchmodat(n->root.fd, member(n, "last") + 1, 0600, 0), 0);
	assert_int_equal(share(n, "hello", installed, &executable), -EPERM);
	assert_int_equal(look(n, member(n, "hello")).st_nlink, 1);
}

/* In place, and later than it was unpacked by the clock of the file system. */
static void change(struct node *n, const char *path)
{
	const struct timespec tick = { .tv_nsec = 20 * 1000 * 1000 };
	autoclose int fd = openat(n->root.fd, path + 1, O_WRONLY | O_CLOEXEC);

	(void)nanosleep(&tick, NULL);
	assert_int_equal(write(fd, "j", 1), 1);
}

/* What writes to the installed file writes to the tree: this run sees it, and the next. */
static void a_shared_member_was_written_to(void **state)
{
	struct node *n = *state;

	unpack(n);
	assert_int_equal(share(n, "hello", installed, &executable), 0);
	change(n, installed);
	assert_false(cache_has_tree(n->cache, &archive));
	assert_int_equal(cache_settle(n->cache, &n->e), 0);
	assert_false(is_known(n));
}

/* A name that goes changes a member's stamp and none of its bytes: a record of these tells. */
static void a_sealed_tree_is_known_by_its_bytes(void **state)
{
	struct cache_shared_trees shared;
	struct node *n = *state;
	struct digest d;

	unpack(n);
	assert_int_equal(cache_trees_shared(n->cache, n->a).n, 0);
	assert_int_equal(share(n, "hello", installed, &executable), 0);
	shared = cache_trees_shared(n->cache, n->a);
	assert_int_equal(shared.n, 1);
	assert_int_equal(cache_settle(n->cache, &n->e), 0);
	assert_int_equal(unlinkat(n->root.fd, installed + 1, 0), 0);
	assert_false(is_known(n));
	assert_int_equal(cache_member_digest(n->cache, &archive.digest, "hello", &d),
			 CACHE_UNKNOWN);
	cache_tree_seal(n->cache, &shared.v[0]);
	assert_true(is_known(n));
	change(n, member(n, "hello"));
	assert_false(is_known(n));
	/* what it was is still known, and by its whole name alone */
	assert_int_equal(cache_member_digest(n->cache, &archive.digest, "hello", &d), CACHE_THERE);
	assert_true(digest_eq(&d, &n->d));
	assert_int_equal(cache_member_digest(n->cache, &archive.digest, "hell", &d),
			 CACHE_NOT_THERE);
	assert_int_equal(cache_member_digest(n->cache, &archive.digest, "ello", &d),
			 CACHE_NOT_THERE);
	assert_true(cache_tree_drop(n->cache, &archive.digest));
	assert_int_equal(cache_member_digest(n->cache, &archive.digest, "hello", &d),
			 CACHE_UNKNOWN);
}

static void a_tree_that_was_written_to_is_not_sealed(void **state)
{
	struct cache_shared_trees shared;
	struct node *n = *state;

	unpack(n);
	assert_int_equal(share(n, "hello", installed, &executable), 0);
	shared = cache_trees_shared(n->cache, n->a);
	change(n, installed);
	cache_tree_seal(n->cache, &shared.v[0]);
	assert_int_equal(scratch_count(&n->root, "/var/cache/nodeup/verified"), 2);
}

/* Unpack an archive of many members that no other round has. */
static void unpack_many(struct node *n, int round)
{
	autobuf struct buf b = TAR_BUF;

	tar_add(&b, &(struct tar_entry){ "hello", '0', NULL, 0755, "hello", 0 });
	tar_add(&b, &(struct tar_entry){ "last", '0', NULL, 0755, "x", 0 });
	for (int i = 0; i < 200; i++)
		tar_add(&b, &(struct tar_entry){ arena_printf(n->a, "%d.%d", round, i), '0', NULL,
						 0644, "x", 0 });
	tar_end(&b);
	tar_gzip(&b);
	digest_of(DIGEST_SHA256, b.data, b.len, &archive.digest);
	put(n, &archive.digest, b.data, b.len);
	assert_int_equal(cache_unpack(n->cache, &archive, &n->e), 0);
}

struct beside {
	struct node *n;
	const char *path;
	atomic_bool begun, ends, missed;
};

static void *ask(void *arg)
{
	struct beside *b = arg;

	do {
		if (!cache_has_tree(b->n->cache, &archive))
			atomic_store(&b->missed, true);
		atomic_store(&b->begun, true);
	} while (!atomic_load(&b->ends));
	return NULL;
}

static void *share_last(void *arg)
{
	struct beside *b = arg;
	struct node own = { .cache = b->n->cache, .root = b->n->root, .a = arena_new_empty() };

	atomic_store(&b->begun, true);
	(void)share(&own, "last", b->path, &executable);
	arena_free(own.a);
	return NULL;
}

/* Share a member while a thread does that. */
static void share_beside(struct node *n, void *(*does)(void *), struct beside *b)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, does, b), 0);
	while (!atomic_load(&b->begun))
		(void)sched_yield();
	assert_int_equal(share(n, "hello", arena_printf(n->a, "%s0", b->path), &executable), 0);
	atomic_store(&b->ends, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_true(cache_has_tree(n->cache, &archive));
	assert_false(atomic_load(&b->missed));
}

/* A task that asks while another shares a member must not find the tree changed. */
static void a_tree_is_there_while_a_member_is_shared(void **state)
{
	struct node *n = *state;

	for (int round = 0; round < 20; round++) {
		struct beside b = { .n = n,
				    .path = arena_printf(n->a, "/usr/local/bin/%d", round) };

		unpack_many(n, round);
		share_beside(n, ask, &b);
	}
}

/* Of a tree that an earlier process unpacked both learn at once that it is right. */
static void a_tree_of_before_is_there_when_two_members_are_shared(void **state)
{
	struct node *n = *state;

	for (int round = 0; round < 20; round++) {
		struct beside b = { .n = n,
				    .path = arena_printf(n->a, "/usr/local/bin/%d", round) };

		unpack_many(n, round);
		assert_int_equal(cache_settle(n->cache, &n->e), 0);
		cache_free(n->cache);
		assert_int_equal(
			cache_new_own(n->root.fd, "/var/cache/nodeup", true, &n->cache, &n->e), 0);
		share_beside(n, share_last, &b);
	}
}

#define NODE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		NODE_TEST(the_entry_becomes_the_file_and_comes_back),
		NODE_TEST(it_comes_back_from_a_file_that_is_still_the_entry),
		NODE_TEST(what_was_never_installed_stays_an_entry),
		NODE_TEST(what_was_changed_meanwhile_is_no_entry),
		NODE_TEST(what_has_capabilities_is_not_lent),
		NODE_TEST(only_an_entry_of_its_own_is_lent),
		NODE_TEST(a_member_is_shared),
		NODE_TEST(only_a_member_that_is_as_wanted_is_shared),
		NODE_TEST(a_shared_member_was_written_to),
		NODE_TEST(a_sealed_tree_is_known_by_its_bytes),
		NODE_TEST(a_tree_that_was_written_to_is_not_sealed),
		NODE_TEST(a_tree_is_there_while_a_member_is_shared),
		NODE_TEST(a_tree_of_before_is_there_when_two_members_are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
