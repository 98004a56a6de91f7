#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include "assets/cache/tree.h"
#include "tests/unit/lib/cache_box.h"

static const char installed[] = CACHE_BOX_BIN "/hello";
static const struct io_attr executable = { .mode = 0755 };
static struct digest hello;

static int setup(void **state)
{
	(void)cache_box_setup(state);
	digest_of(DIGEST_SHA256, "hello", 5, &hello);
	cache_box_put(*state, &hello, "hello", 5);
	return 0;
}

static void stage(struct cache_box *n, struct io_stage *s)
{
	if (io_stage_open(n->root.fd, installed, s, &n->e) < 0)
		fail_msg("%s", n->e.msg);
}

/* As a run installs it, up to its name. */
static void install(struct cache_box *n)
{
	autostage struct io_stage s = IO_STAGE_INIT;

	stage(n, &s);
	assert_int_equal(cache_lend(n->cache, &hello, installed, &s), 0);
	assert_int_equal(io_stage_commit(&s, installed, &executable, &n->e), 0);
}

static struct stat look(struct cache_box *n, const char *path)
{
	struct stat st = { 0 };

	(void)scratch_stat(&n->root, path, &st);
	return st;
}

static struct stat look_at_entry(struct cache_box *n)
{
	char hex[DIGEST_TEXT_MAX];

	return look(n, arena_printf(n->a, "/var/cache/nodeup/sha256/%s", digest_hex(&hello, hex)));
}

static int take_back(struct cache_box *n)
{
	const struct cache_loans loans = cache_loans(n->cache, n->a);

	assert_int_equal(loans.n, 1);
	assert_true(digest_eq(&loans.v[0].digest, &hello));
	assert_string_equal(loans.v[0].path, installed);
	return cache_take_back(n->cache, n->root.fd, &loans.v[0], &n->e);
}

/* The cache has bytes of its own, which count without being read, and nothing is lent any more. */
static void must_be_whole(struct cache_box *n)
{
	assert_true(cache_has(n->cache, &hello));
	assert_int_equal(look_at_entry(n).st_nlink, 1);
	assert_int_not_equal(look_at_entry(n).st_ino, look(n, installed).st_ino);
	assert_int_equal(look(n, installed).st_nlink, 1);
	assert_int_equal(cache_loans(n->cache, n->a).n, 0);
}

static void the_entry_becomes_the_file_and_comes_back(void **state)
{
	struct cache_box *n = *state;
	const ino_t before = look_at_entry(n).st_ino;
	autofree char *text = NULL;

	install(n);
	cache_lent(n->cache, &hello);
	assert_int_equal(look(n, installed).st_ino, before);
	assert_int_equal(look(n, installed).st_nlink, 1);
	assert_int_equal(look(n, installed).st_mode & 07777, 0755);
	assert_false(cache_has(n->cache, &hello));
	assert_int_equal(scratch_count(&n->root, "/usr/local/bin"), 1);
	assert_int_equal(take_back(n), 0);
	must_be_whole(n);
	text = scratch_read(&n->root, installed);
	assert_string_equal(text, "hello");
}

/* A kill after the rename, with both names there. */
static void it_comes_back_from_a_file_that_is_still_the_entry(void **state)
{
	struct cache_box *n = *state;

	install(n);
	assert_int_equal(look_at_entry(n).st_nlink, 2);
	assert_int_equal(take_back(n), 0);
	must_be_whole(n);
}

/* A kill before the rename: the staging file is swept, and the entry was there all the time. */
static void what_was_never_installed_stays_an_entry(void **state)
{
	struct cache_box *n = *state;
	autostage struct io_stage s = IO_STAGE_INIT;
	autoclose int fd = -1;

	stage(n, &s);
	assert_int_equal(cache_lend(n->cache, &hello, installed, &s), 0);
	io_stage_done(&s);
	assert_int_equal(take_back(n), 0);
	assert_int_equal(cache_loans(n->cache, n->a).n, 0);
	assert_int_equal(cache_open(n->cache, &hello, &fd, &n->e), 0);
	assert_true(cache_has(n->cache, &hello));
}

/* Neither wrong bytes nor their note stay: the asset is fetched when it is needed. */
static void what_was_changed_meanwhile_is_no_entry(void **state)
{
	struct cache_box *n = *state;

	install(n);
	cache_lent(n->cache, &hello);
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
	struct cache_box *n = *state;
	autostage struct io_stage s = IO_STAGE_INIT;
	autoclose int fd = -1;

	if (cache_open(n->cache, &hello, &fd, &n->e) < 0)
		fail_msg("%s", n->e.msg);
	if (fsetxattr(fd, "security.capability", capability, sizeof(capability), 0) < 0)
		skip();
	stage(n, &s);
	assert_int_equal(cache_lend(n->cache, &hello, installed, &s), -EPERM);
}

static void only_an_entry_of_its_own_is_lent(void **state)
{
	struct cache_box *n = *state;
	char hex[DIGEST_TEXT_MAX];
	const char *entry =
		arena_printf(n->a, "var/cache/nodeup/sha256/%s", digest_hex(&hello, hex));
	autostage struct io_stage s = IO_STAGE_INIT;
	ino_t before;

	stage(n, &s);
	before = look(n, arena_printf(n->a, "/usr/local/bin/%s", s.name)).st_ino;
	assert_int_equal(linkat(n->root.fd, entry, n->root.fd, "usr/other", 0), 0);
	assert_int_equal(cache_lend(n->cache, &hello, installed, &s), -EPERM);
	assert_int_equal(unlinkat(n->root.fd, "usr/other", 0), 0);
	assert_int_equal(fchmodat(n->root.fd, entry, 0666, 0), 0);
	assert_int_equal(cache_lend(n->cache, &hello, installed, &s), -EPERM);
	assert_int_equal(cache_loans(n->cache, n->a).n, 0);
	assert_int_equal(look(n, arena_printf(n->a, "/usr/local/bin/%s", s.name)).st_ino, before);
}

static struct asset archive;

/* The path of what is unpacked, below the root. */
static const char *member(struct cache_box *n, const char *name)
{
	return cache_box_member(n, &archive, name);
}

/* "hello" and another one, in an archive that the cache has unpacked. */
static void unpack(struct cache_box *n)
{
	archive = cache_box_archive(n, 0, 0);
	assert_int_equal(cache_unpack(n->cache, &archive, &n->e), 0);
}

static int share(struct cache_box *n, const char *path, const struct io_attr *attr)
{
	return cache_box_share(n, n->cache, &archive, "hello", path, attr);
}

/* Whether another process would believe the tree. */
static bool is_known(struct cache_box *n)
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
	struct cache_box *n = *state;

	unpack(n);
	assert_int_equal(share(n, installed, &executable), 0);
	assert_int_equal(look(n, installed).st_ino, look(n, member(n, "hello")).st_ino);
	assert_int_equal(scratch_count(&n->root, "/usr/local/bin"), 1);
	assert_true(cache_has_tree(n->cache, &archive));
	assert_int_equal(cache_settle(n->cache, &n->e), 0);
	assert_true(cache_has_tree(n->cache, &archive));
	assert_true(is_known(n));
	/* a second file is not tied to the first */
	assert_int_equal(share(n, "/usr/local/bin/other", &executable), -EMLINK);
}

static void only_a_member_that_is_as_wanted_is_shared(void **state)
{
	static const struct io_attr closed = { .mode = 0700 }, given = { .mode = 0755, .uid = 1 };
	struct cache_box *n = *state;

	unpack(n);
	assert_int_equal(share(n, installed, &closed), -EPERM);
	assert_int_equal(share(n, installed, &given), -EPERM);
	/* a tree that was changed may be of anything */
	assert_int_equal(fchmodat(n->root.fd, member(n, "last") + 1, 0600, 0), 0);
	assert_int_equal(share(n, installed, &executable), -EPERM);
	assert_int_equal(look(n, member(n, "hello")).st_nlink, 1);
}

/* In place, and later than it was unpacked by the clock of the file system. */
static void change(struct cache_box *n, const char *path)
{
	const struct timespec tick = { .tv_nsec = 20 * 1000 * 1000 };
	autoclose int fd = openat(n->root.fd, path + 1, O_WRONLY | O_CLOEXEC);

	(void)nanosleep(&tick, NULL);
	assert_int_equal(write(fd, "j", 1), 1);
}

/* What writes to the installed file writes to the tree: this run sees it, and the next. */
static void a_shared_member_was_written_to(void **state)
{
	struct cache_box *n = *state;

	unpack(n);
	assert_int_equal(share(n, installed, &executable), 0);
	change(n, installed);
	assert_false(cache_has_tree(n->cache, &archive));
	assert_int_equal(cache_settle(n->cache, &n->e), 0);
	assert_false(is_known(n));
}

/* A name that goes changes a member's stamp and none of its bytes: a record of these tells. */
static void a_sealed_tree_is_known_by_its_bytes(void **state)
{
	struct cache_shared_trees shared;
	struct cache_box *n = *state;
	struct digest d;

	unpack(n);
	assert_int_equal(cache_trees_shared(n->cache, n->a).n, 0);
	assert_int_equal(share(n, installed, &executable), 0);
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
	assert_true(digest_eq(&d, &hello));
	assert_int_equal(cache_member_digest(n->cache, &archive.digest, "hell", &d),
			 CACHE_NOT_THERE);
	assert_int_equal(cache_member_digest(n->cache, &archive.digest, "ello", &d),
			 CACHE_NOT_THERE);
	assert_true(cache_tree_drop(n->cache, &archive.digest, -1));
	assert_int_equal(cache_member_digest(n->cache, &archive.digest, "hello", &d),
			 CACHE_UNKNOWN);
}

static void a_tree_that_was_written_to_is_not_sealed(void **state)
{
	struct cache_shared_trees shared;
	struct cache_box *n = *state;

	unpack(n);
	assert_int_equal(share(n, installed, &executable), 0);
	shared = cache_trees_shared(n->cache, n->a);
	change(n, installed);
	cache_tree_seal(n->cache, &shared.v[0]);
	assert_int_equal(scratch_count(&n->root, "/var/cache/nodeup/verified"), 2);
}

#define NODE_TEST(f) cmocka_unit_test_setup_teardown(f, setup, cache_box_teardown)

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
