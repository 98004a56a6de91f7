#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "assets/cache_dir.h"
#include "assets/extract.h"
#include "assets/unpack.h"
#include "tests/unit/origin.h"
#include "tests/unit/tar.h"

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
	assert_int_equal(cache_remove(AT_FDCWD, x->dir), 0);
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

static char *tree_of(struct box *x, const char *name)
{
	return arena_printf(x->a, "%s%s/%s", x->dir, cache_unpacked_path(x->c, x->a, &x->as.digest),
			    name);
}

/* How many names a folder of the cache has; the last of them in *ret. */
static size_t names_in(struct box *x, const char *folder, char **ret)
{
	autodir DIR *dir = opendir(path_of(x, folder));
	const struct dirent *d;
	size_t n = 0;

	assert_non_null(dir);
	while ((d = readdir(dir)))
		if (d->d_name[0] != '.' && ++n && ret)
			*ret = arena_printf(x->a, "%s/%s", folder, d->d_name);
	return n;
}

static void must_be_empty(struct box *x)
{
	assert_int_equal(names_in(x, "tmp", NULL), 0);
	assert_int_equal(names_in(x, "unpacked", NULL), 0);
}

/* Feed from..to in pieces of an odd size; 0 or the first error. */
static int feed(struct unpack *u, const struct buf *b, size_t from, size_t to, struct err *e)
{
	int r = 0;

	for (size_t at = from; at < to && r == 0; at += 7001)
		r = unpack_feed(u, b->data + at, to - at < 7001 ? to - at : 7001, e);
	return r;
}

/* Wait until the child has made the file, as stat gives it; it is as fast as it likes. */
static void wait_for(const char *path, struct stat *ret)
{
	const struct timespec nap = { .tv_nsec = 5 * 1000 * 1000 };

	for (int i = 0; i < 12000; i++) {
		if (lstat(path, ret) == 0)
			return;
		(void)nanosleep(&nap, NULL);
	}
	fail_msg("'%s' does not appear", path);
}

static void test_streamed(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct stat st;
	struct err e;
	char have[8] = { 0 };

	good_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	if (feed(u, &x->archive, 0, x->archive.len, &e) < 0 || unpack_finish(u, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(stat(tree_of(x, "bin/bridge"), &st), 0);
	assert_int_equal(st.st_size, 2000000);
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(readlink(tree_of(x, "bin/alias"), have, sizeof(have)), 6);
	assert_int_equal(lstat(tree_of(x, "bin/alias"), &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(stat(tree_of(x, "."), &st), 0);
	assert_int_equal(st.st_uid, geteuid());
	assert_int_equal(st.st_mode & 07777, 0755);
	assert_int_equal(names_in(x, "tmp", NULL), 0);

	/* there it is */
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), -EALREADY);
	assert_null(u);
}

/* Before the verdict: private, without modes, without links, and without a trace once dropped. */
static void test_nothing_before_the_verdict(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct stat st;
	struct err e;
	char *tmp;

	good_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	assert_int_equal(feed(u, &x->archive, 0, x->archive.len, &e), 0);
	assert_int_equal(names_in(x, "tmp", &tmp), 1);
	wait_for(arena_printf(x->a, "%s/last", path_of(x, tmp)), &st);
	assert_int_equal(stat(path_of(x, tmp), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	wait_for(arena_printf(x->a, "%s/bin/alias", path_of(x, tmp)), &st);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0);
	wait_for(arena_printf(x->a, "%s/bin/bridge", path_of(x, tmp)), &st);
	assert_int_equal(st.st_mode & 0111, 0);
	if (geteuid() == 0)
		assert_int_not_equal(st.st_uid, 0);
	assert_int_equal(names_in(x, "unpacked", NULL), 0);
	unpack_abort(u);
	must_be_empty(x);
	unpack_abort(NULL);
}

/* The child's reason, whenever who feeds hears of it. */
static void test_refused_while_fed(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct err e;
	int r;

	tar_add(&x->archive, &(struct tar_entry){ .name = "good", .type = '0', .data = "x" });
	tar_add(&x->archive, &(struct tar_entry){ .name = "../evil", .type = '0', .data = "x" });
	tar_add(&x->archive,
		&(struct tar_entry){ .name = "big", .type = '0', .data = noise(x, 3000000) });
	end_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	r = feed(u, &x->archive, 0, x->archive.len, &e);
	if (r < 0)
		unpack_abort(u);
	else
		r = unpack_finish(u, &e);
	assert_true(r < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	if (!strstr(e.msg, "entry '../evil' refused: '..' in the name"))
		fail_msg("%s", e.msg);
	must_be_empty(x);
}

/* Half an archive is refused as such when no more comes. */
static void test_truncated(void **state)
{
	struct box *x = *state;
	struct unpack *u;
	struct err e;

	good_archive(x);
	assert_int_equal(unpack_start(x->c, &x->as, &u, &e), 0);
	assert_int_equal(feed(u, &x->archive, 0, x->archive.len / 2, &e), 0);
	assert_true(unpack_finish(u, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	must_be_empty(x);
}

/* Somebody kills the child: an error that may be tried again, no hang, nothing left. */
static void test_killed_child(void **state)
{
	static const struct extract_limits limits = { 1000, 1 << 24 };
	struct box *x = *state;
	autoclose int dir = -1;
	struct extract *ex;
	char name[CACHE_NAME_MAX];
	struct err e = { 0 };
	int r = 0;

	good_archive(x);
	assert_int_equal(cache_make_tmp(x->c, true, name, &dir, &e), 0);
	assert_int_equal(extract_start("a.tar", -1, dir, &limits, &ex, &e), 0);
	assert_int_equal(kill(extract_pid(ex), SIGKILL), 0);
	while (r == 0)
		r = extract_feed(ex, x->archive.data, x->archive.len, &e);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_non_null(strstr(e.msg, "'a.tar': the unpacker was killed: Killed"));
	assert_true(err_is_transient(&e));
	extract_abort(ex);
	assert_int_equal(cache_remove(AT_FDCWD, path_of(x, name)), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_streamed),          TEST(test_nothing_before_the_verdict),
		TEST(test_refused_while_fed), TEST(test_truncated),
		TEST(test_killed_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
