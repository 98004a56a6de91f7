#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "tests/unit/lib/dir.h"
#include "tests/unit/lib/fetch_box.h"
#include "nodeup/base/walk.h"
#include "tests/unit/lib/tar.h"

/* How many names are in a folder of the cache. */
static int count_names(struct box *x, const char *folder)
{
	int fd = openat(x->root_fd, arena_printf(x->a, "cache/%s", folder),
			O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	autodir DIR *dir = fdopendir(fd);
	int n = -2; /* . and .. */

	assert_non_null(dir);
	while (readdir(dir))
		n++;
	return n;
}

/* An archive of 40 files, and one of this name, as an asset that is served by the file system. */
static struct asset archive(struct box *x, const char *last)
{
	autobuf struct buf b = TAR_BUF;
	struct asset as;

	for (int i = 0; i < 40; i++)
		tar_add(&b, &(struct tar_entry){ .name = arena_printf(x->a, "bin/tool-%d", i),
						 .type = '0',
						 .mode = 0755,
						 .data = "#!/bin/sh\n" });
	tar_add(&b, &(struct tar_entry){ .name = last, .type = '0', .data = "x" });
	tar_end(&b);
	tar_gzip(&b);
	tmp_write(x->dir, "cni.tar.gz", buf_str(&b), b.len);
	as = box_asset_at(x, arena_printf(x->a, "file://%s/cni.tar.gz", x->dir), NULL);
	as.name = "cni.tar.gz";
	as.form = ASSET_TAR_GZ;
	as.unpack = true;
	digest_of(DIGEST_SHA256, buf_str(&b), b.len, &as.digest);
	return as;
}

static bool has_tree(struct box *x, const struct asset *as, const char *name)
{
	struct stat st;

	return fstatat(x->root_fd,
		       arena_printf(x->a, "%s/%s",
				    cache_unpacked_path(x->cache, x->a, &as->digest) + 1, name),
		       &st, 0) == 0;
}

/* Entry and tree are there when the fetch is done: nobody has to read the archive again. */
static void test_one_pass(void **state)
{
	struct box *x = *state;
	struct asset as = archive(x, "bin/last"), plain = as;

	box_must_succeed(x, &as);
	assert_true(has_tree(x, &as, "bin/tool-39"));
	assert_true(has_tree(x, &as, "bin/last"));
	assert_int_equal(count_names(x, "tmp"), 0);
	/* unless nobody wants the tree */
	box_empty_cache(x);
	assert_int_equal(walk_remove(x->root_fd, "cache/unpacked"), 0);
	assert_int_equal(mkdirat(x->root_fd, "cache/unpacked", 0755), 0);
	box_open_fetcher(x, x->http);
	plain.unpack = false;
	box_must_succeed(x, &plain);
	assert_int_equal(count_names(x, "unpacked"), 0);
}

static void test_wrong_bytes_leave_no_tree(void **state)
{
	struct box *x = *state;
	struct asset as = archive(x, "bin/last");

	as.digest.bytes[0] ^= 1;
	(void)box_must_fail(x, &as, ERR_INTEGRITY, "wrong content");
	assert_int_equal(count_names(x, "unpacked"), 0);
	assert_int_equal(count_names(x, "tmp"), 0);
}

/* Its bytes are right: that it is evil is for who unpacks it to say. */
static void test_evil_archive(void **state)
{
	struct box *x = *state;
	struct asset as = archive(x, "../../evil");

	box_must_succeed(x, &as);
	assert_int_equal(count_names(x, "unpacked"), 0);
	assert_int_equal(count_names(x, "tmp"), 0);
}

/* Given up half way, and taken up again by another run: unpacked from the beginning, out of what is
 * here. */
static void test_given_up_and_resumed(void **state)
{
	struct box *x = *state;
	struct asset as = archive(x, "bin/last"), broken = as;
	char name[CACHE_NAME_MAX];
	struct verdict v = VERDICT_INIT;

	cache_side_name("partial", &as.digest, name);
	for (int i = 0; i < 20; i++) {
		const struct timespec nap = { .tv_nsec = i * 200 * 1000 };

		fetch_start(x->f, &broken, box_on_done, &v);
		(void)nanosleep(&nap, NULL);
		fetch_cancel(x->f, &broken);
		box_wait_calls(&v, i + 1);
	}
	box_open_fetcher(x, x->http);
	assert_int_equal(count_names(x, "tmp"), 0);
	box_must_succeed(x, &as);
	assert_true(has_tree(x, &as, "bin/last") || v.cancelled < 20);
	assert_int_equal(count_names(x, "tmp"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, box_setup, box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one_pass),
		TEST(test_wrong_bytes_leave_no_tree),
		TEST(test_evil_archive),
		TEST(test_given_up_and_resumed),
	};

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
