#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "nodeup/base/dur.h"
#include "tests/unit/lib/dir.h"
#include "tests/unit/lib/fetch_box.h"
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

/* What the sink heard. */
struct heard {
	struct box *x;
	struct extract_take take;
	int opened, complete, dropped;
};

static bool open_sink(void *arg, const struct asset *as, struct fetch_takes *ret)
{
	struct heard *h = arg;

	(void)as;
	h->opened++;
	h->take.path = NULL;
	*ret = (struct fetch_takes){ h->x->a, &h->take, 1 };
	return true;
}

static void close_sink(void *arg, const struct asset *as, bool complete)
{
	struct heard *h = arg;

	(void)as;
	h->complete += complete;
	h->dropped += !complete;
}

static struct heard listen(struct box *x)
{
	return (struct heard){ .x = x,
			       .take = { .member = "last", .fd = memfd_create("m", MFD_CLOEXEC) } };
}

static void connect(struct box *x, struct heard *h)
{
	const struct fetch_sink sink = { open_sink, close_sink, h };

	fetch_set_sink(x->f, &sink);
}

/* Entry and member are there when the fetch is done: nobody has to read the archive again. */
static void test_one_pass(void **state)
{
	struct box *x = *state;
	struct asset as = archive(x, "bin/last"), plain = as;
	struct heard h = listen(x);

	connect(x, &h);
	box_must_succeed(x, &as);
	assert_int_equal(h.complete, 1);
	assert_string_equal(h.take.path, "bin/last");
	assert_int_equal(lseek(h.take.fd, 0, SEEK_END), 1);
	assert_int_equal(count_names(x, "tmp"), 0);
	/* unless nobody wants it */
	box_empty_cache(x);
	box_open_fetcher(x, x->http);
	connect(x, &h);
	plain.unpack = false;
	box_must_succeed(x, &plain);
	assert_int_equal(h.opened, 1);
	(void)close(h.take.fd);
}

static void test_wrong_bytes_are_no_members(void **state)
{
	struct box *x = *state;
	struct asset as = archive(x, "bin/last");
	struct heard h = listen(x);

	as.digest.bytes[0] ^= 1;
	connect(x, &h);
	(void)box_must_fail(x, &as, ERR_INTEGRITY, "wrong content");
	assert_int_equal(h.complete, 0);
	assert_int_equal(h.dropped, h.opened);
	assert_int_equal(count_names(x, "tmp"), 0);
	(void)close(h.take.fd);
}

/* Its bytes are right: that it is evil is for who unpacks it to say. */
static void test_evil_archive(void **state)
{
	struct box *x = *state;
	struct asset as = archive(x, "../../evil");
	struct heard h = listen(x);
	struct err e;

	connect(x, &h);
	box_must_succeed(x, &as);
	assert_int_equal(h.complete, 0);
	assert_int_equal(h.dropped, 1);
	assert_true(fetch_has_refused(x->f, &as, &e));
	(void)close(h.take.fd);
}

/* Given up half way, and taken up again by another run: unpacked from the beginning, out of what is
 * here. */
static void test_given_up_and_resumed(void **state)
{
	struct box *x = *state;
	struct asset as = archive(x, "bin/last"), broken = as;
	struct verdict v = VERDICT_INIT;
	struct heard h = listen(x);

	connect(x, &h);
	for (int i = 0; i < 20; i++) {
		const struct timespec nap = { .tv_nsec = i * 200 * 1000 };

		fetch_start(x->f, &broken, box_on_done, &v);
		(void)nanosleep(&nap, NULL);
		fetch_cancel(x->f, &broken);
		box_wait_calls(&v, i + 1);
	}
	box_open_fetcher(x, x->http);
	connect(x, &h);
	assert_int_equal(count_names(x, "tmp"), 0);
	box_must_succeed(x, &as);
	assert_int_equal(h.opened, h.complete + h.dropped);
	assert_true(h.complete > 0);
	(void)close(h.take.fd);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, box_setup, box_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_one_pass),
		TEST(test_wrong_bytes_are_no_members),
		TEST(test_evil_archive),
		TEST(test_given_up_and_resumed),
	};

	return cmocka_run_group_tests(tests, box_start_origin, box_stop_origin);
}
