#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "assets/cache/dir.h"
#include "assets/cache/unpack.h"
#include "assets/cache/entry.h"
#include "nodeup/base/walk.h"
#include "tests/unit/lib/dir.h"
#include "tests/unit/lib/origin.h"
#include "tests/unit/lib/tar.h"

/* A root with a cache in it that is closed and opened at will. */
struct box {
	char dir[64];
	int root_fd;
	struct cache *c;
	struct arena *a;
	struct digest d; /* of "hello" */
};

static void open_cache(struct box *x, bool create)
{
	struct err e;

	cache_free(x->c);
	x->c = NULL;
	if (cache_new(x->root_fd, "/var/cache/nodeup", create, &x->c, &e) < 0)
		fail_msg("%s", e.msg);
}

static int setup(void **state)
{
	struct box *x = xcalloc(1, sizeof(*x));

	tmp_make(x->dir);
	x->root_fd = open(x->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(x->root_fd >= 0);
	x->a = arena_new_empty();
	digest_of(DIGEST_SHA256, "hello", 5, &x->d);
	open_cache(x, true);
	*state = x;
	return 0;
}

static int teardown(void **state)
{
	struct box *x = *state;

	cache_free(x->c);
	(void)close(x->root_fd);
	arena_free(x->a);
	assert_int_equal(walk_remove(AT_FDCWD, x->dir), 0);
	free(x);
	return 0;
}

static int put(struct box *x, const struct digest *d, const void *p, size_t n, struct err *e)
{
	struct cache_entry *en;

	assert_int_equal(cache_begin(x->c, d, &en, e), 0);
	assert_int_equal(cache_write(en, p, n / 2, e), 0);
	assert_int_equal(cache_write(en, (const char *)p + n / 2, n - n / 2, e), 0);
	return cache_commit(en, e);
}

static void put_hello(struct box *x)
{
	struct err e;

	assert_int_equal(put(x, &x->d, "hello", 5, &e), 0);
}

/* The entry can be opened and holds "hello". */
static void must_have_hello(struct box *x)
{
	autoclose int fd = -1;
	char have[8] = { 0 };
	struct err e;

	if (cache_open(x->c, &x->d, &fd, &e) < 0)
		fail_msg("%s", e.msg);
	assert_int_equal(read(fd, have, sizeof(have)), 5);
	assert_string_equal(have, "hello");
}

static void must_be_absent(struct box *x)
{
	struct err e;
	int fd = -7;

	assert_int_equal(cache_open(x->c, &x->d, &fd, &e), -ENOENT);
	assert_int_equal(fd, -7);
	assert_false(cache_has(x->c, &x->d));
}

static char *path_of(struct box *x, const char *name)
{
	return arena_printf(x->a, "%s/var/cache/nodeup/%s", x->dir, name);
}

static char *entry_path(struct box *x)
{
	char name[CACHE_NAME_MAX];

	return path_of(x, cache_entry_name(&x->d, name));
}

static char *record_path(struct box *x)
{
	char name[CACHE_NAME_MAX];

	return path_of(x, cache_side_name("verified", &x->d, name));
}

static size_t count_names(struct box *x, const char *folder)
{
	autodir DIR *dir = opendir(path_of(x, folder));
	size_t n = 0;

	assert_non_null(dir);
	for (struct dirent *d = readdir(dir); d; d = readdir(dir))
		n += strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0;
	return n;
}

static void test_put_and_open(void **state)
{
	struct box *x = *state;
	struct stat st;

	must_be_absent(x);
	put_hello(x);
	assert_true(cache_has(x->c, &x->d));
	must_have_hello(x);
	open_cache(x, true);
	assert_true(cache_has(x->c, &x->d));
	must_have_hello(x);
	assert_int_equal(stat(entry_path(x), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0444);
	assert_int_equal(count_names(x, "tmp"), 0);
}

static void test_wrong_bytes_leave_nothing(void **state)
{
	struct box *x = *state;
	char hex[DIGEST_TEXT_MAX];
	struct digest got;
	struct err e;

	assert_true(put(x, &x->d, "HELLO!", 6, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	assert_int_equal(e.nnotes, 3);
	assert_string_equal(e.notes[0].label, "want");
	assert_string_equal(e.notes[0].text,
			    arena_printf(x->a, "sha256 %s", digest_hex(&x->d, hex)));
	digest_of(DIGEST_SHA256, "HELLO!", 6, &got);
	assert_string_equal(e.notes[1].label, "got");
	assert_string_equal(e.notes[1].text,
			    arena_printf(x->a, "sha256 %s", digest_hex(&got, hex)));
	assert_string_equal(e.notes[2].text, "6 bytes");
	must_be_absent(x);
	assert_int_equal(count_names(x, "tmp"), 0);
	assert_int_equal(count_names(x, "sha256"), 0);
	assert_int_equal(count_names(x, "verified"), 0);
}

static void test_wrong_bytes_keep_the_right_ones(void **state)
{
	struct box *x = *state;
	struct err e;

	put_hello(x);
	assert_true(put(x, &x->d, "HELLO!", 6, &e) < 0);
	assert_true(cache_has(x->c, &x->d));
	must_have_hello(x);
}

static void test_abort(void **state)
{
	struct box *x = *state;
	struct cache_entry *en;
	struct err e;

	assert_int_equal(cache_begin(x->c, &x->d, &en, &e), 0);
	assert_int_equal(cache_write(en, "hello", 5, &e), 0);
	assert_int_equal(count_names(x, "tmp"), 1);
	must_be_absent(x); /* nothing half-written is visible */
	cache_abort(en);
	cache_abort(NULL);
	assert_int_equal(count_names(x, "tmp"), 0);
	must_be_absent(x);
}

static void overwrite(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	(void)close(fd);
}

static void test_entry_changed_on_disk(void **state)
{
	struct box *x = *state;
	struct timespec times[2];
	struct stat st;

	put_hello(x);
	assert_int_equal(stat(entry_path(x), &st), 0);
	/* same size, and the old time put back: ctime tells */
	overwrite(entry_path(x), "hellO");
	times[0] = times[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, entry_path(x), times, 0), 0);
	assert_false(cache_has(x->c, &x->d));
	must_be_absent(x);
	assert_int_equal(access(entry_path(x), F_OK), -1);
	put_hello(x);
	must_have_hello(x);
}

static void test_no_record_means_hash_again(void **state)
{
	static const char *const records[] = { "", "v1 1 5 1 1\n", "garbage", NULL };
	struct box *x = *state;

	put_hello(x);
	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		if (records[i])
			overwrite(record_path(x), records[i]);
		else
			assert_int_equal(unlink(record_path(x)), 0);
		assert_false(cache_has(x->c, &x->d));
		must_have_hello(x);
		/* and is on record again */
		assert_true(cache_has(x->c, &x->d));
	}
}

/* An entry that a copy or an image brought: verified, recorded and, if wrong, removed. */
static void test_entry_from_elsewhere(void **state)
{
	struct box *x = *state;

	tmp_write(x->dir, entry_path(x) + strlen(x->dir) + 1, "hello", 5);
	assert_false(cache_has(x->c, &x->d));
	must_have_hello(x);
	assert_true(cache_has(x->c, &x->d));
	assert_int_equal(unlink(entry_path(x)), 0);
	tmp_write(x->dir, entry_path(x) + strlen(x->dir) + 1, "wrong", 5);
	must_be_absent(x);
	assert_int_equal(access(entry_path(x), F_OK), -1);
	assert_int_equal(access(record_path(x), F_OK), -1);
}

static enum cache_state inspect(struct box *x, enum cache_effort effort, struct err *e)
{
	return cache_inspect(x->c, &x->d, effort, e).state;
}

/* What is wrong is as absent as what is not there, and can be told from it. */
static void test_inspect(void **state)
{
	struct box *x = *state;
	struct err e;

	assert_int_equal(inspect(x, CACHE_BY_NEED, &e), CACHE_ABSENT);
	put_hello(x);
	assert_int_equal(inspect(x, CACHE_BY_NEED, &e), CACHE_RIGHT);
	overwrite(entry_path(x), "wrong");
	assert_int_equal(inspect(x, CACHE_BY_RECORD, &e), CACHE_UNREAD);
	assert_int_equal(inspect(x, CACHE_BY_NEED, &e), CACHE_DAMAGED);
	assert_non_null(strstr(e.msg, "is damaged; it was moved to the cache's damaged/"));
	assert_int_equal(inspect(x, CACHE_BY_NEED, &e), CACHE_ABSENT);
	/* it may be all that there is, until there is another */
	assert_int_equal(count_names(x, "damaged"), 1);
	assert_int_equal(inspect(x, CACHE_BY_BYTES, &e), CACHE_DAMAGED);
	assert_non_null(strstr(e.msg, "is damaged; it was moved to the cache's damaged/"));
	put_hello(x);
	assert_int_equal(count_names(x, "damaged"), 0);
}

/* A record says that the bytes were right, and a disk may have changed them since. */
static void test_inspect_all_bytes(void **state)
{
	struct box *x = *state;
	struct stat st;
	struct err e;
	int fd;

	put_hello(x);
	assert_int_equal(inspect(x, CACHE_BY_BYTES, &e), CACHE_RIGHT);
	assert_int_equal(inspect(x, CACHE_BY_RECORD, &e), CACHE_RIGHT);
	overwrite(entry_path(x), "wrong");
	fd = open(entry_path(x), O_RDONLY | O_CLOEXEC);
	assert_int_equal(fstat(fd, &st), 0);
	(void)close(fd);
	cache_record(x->c, &x->d, &st);
	assert_int_equal(inspect(x, CACHE_BY_NEED, &e), CACHE_RIGHT);
	assert_int_equal(inspect(x, CACHE_BY_BYTES, &e), CACHE_DAMAGED);
	assert_int_equal(count_names(x, "damaged"), 1);
	assert_int_equal(inspect(x, CACHE_BY_RECORD, &e), CACHE_ABSENT);
}

/* A cache open for reading only tells the same and moves nothing. */
static void test_inspect_read_only(void **state)
{
	struct box *x = *state;
	struct err e;

	put_hello(x);
	overwrite(entry_path(x), "wrong");
	open_cache(x, false);
	assert_int_equal(inspect(x, CACHE_BY_NEED, &e), CACHE_DAMAGED);
	assert_true(str_has_suffix(e.msg, "is damaged"));
	assert_int_equal(inspect(x, CACHE_BY_BYTES, &e), CACHE_DAMAGED);
	assert_int_equal(access(entry_path(x), F_OK), 0);
}

static void test_no_links_no_directories(void **state)
{
	struct box *x = *state;

	tmp_write(x->dir, "hello", "hello", 5);
	assert_int_equal(symlink(arena_printf(x->a, "%s/hello", x->dir), entry_path(x)), 0);
	must_be_absent(x);
	assert_int_equal(mkdir(entry_path(x), 0755), 0);
	tmp_write(entry_path(x), "sub/file", "x", 1);
	must_be_absent(x);
	assert_int_equal(mkdir(entry_path(x), 0755), 0);
	put_hello(x);
	must_have_hello(x);
	assert_int_equal(mkfifo(path_of(x, "sha1/0000000000000000000000000000000000000000"), 0600),
			 0);
	{
		struct digest zero = { .algo = DIGEST_SHA1 };
		struct err e;
		int fd;

		assert_int_equal(cache_open(x->c, &zero, &fd, &e), -ENOENT);
	}
}

static void test_read_only(void **state)
{
	struct box *x = *state;
	struct cache_entry *en;
	struct err e;

	put_hello(x);
	assert_int_equal(unlink(record_path(x)), 0);
	open_cache(x, false);
	must_have_hello(x);
	assert_int_equal(access(record_path(x), F_OK), -1);
	assert_int_equal(cache_begin(x->c, &x->d, &en, &e), -EROFS);
	overwrite(entry_path(x), "wrong");
	must_be_absent(x);
	assert_int_equal(access(entry_path(x), F_OK), 0);
}

static void test_read_only_and_absent(void **state)
{
	struct box *x = *state;
	struct cache *c;
	struct err e;
	int fd;

	assert_int_equal(cache_new(x->root_fd, "/not/there", false, &c, &e), 0);
	assert_int_equal(cache_open(c, &x->d, &fd, &e), -ENOENT);
	assert_false(cache_has(c, &x->d));
	cache_free(c);
	cache_free(NULL);
	assert_int_equal(access(arena_printf(x->a, "%s/not", x->dir), F_OK), -1);
	tmp_write(x->dir, "file", "x", 1);
	assert_true(cache_new(x->root_fd, "/file", true, &c, &e) < 0);
	assert_int_equal(e.kind, ERR_SYSTEM);
}

static void test_left_overs_are_removed(void **state)
{
	struct box *x = *state;
	struct cache_entry *en;
	struct err e;

	tmp_write(x->dir, "var/cache/nodeup/tmp/get-dead", "half", 4);
	tmp_write(x->dir, "var/cache/nodeup/tmp/unpack-dead/bin/bridge", "half", 4);
	assert_int_equal(symlink("/etc", path_of(x, "tmp/link")), 0);
	assert_int_equal(cache_begin(x->c, &x->d, &en, &e), 0);
	assert_int_equal(cache_write(en, "hello", 5, &e), 0);
	assert_int_equal(count_names(x, "tmp"), 4);
	{
		struct cache *other;

		/* as another process would: what is being written stays */
		assert_int_equal(cache_new(x->root_fd, "/var/cache/nodeup", true, &other, &e), 0);
		assert_int_equal(count_names(x, "tmp"), 1);
		cache_free(other);
	}
	assert_int_equal(cache_commit(en, &e), 0);
	must_have_hello(x);
}

/* Two writers of one digest, and a reader that has it open: all are served. */
static void test_two_writers(void **state)
{
	struct box *x = *state;
	struct cache_entry *first, *second;
	autoclose int fd = -1;
	char have[8] = { 0 };
	struct err e;

	assert_int_equal(cache_begin(x->c, &x->d, &first, &e), 0);
	assert_int_equal(cache_begin(x->c, &x->d, &second, &e), 0);
	assert_int_equal(cache_write(first, "hello", 5, &e), 0);
	assert_int_equal(cache_commit(first, &e), 0);
	assert_int_equal(cache_open(x->c, &x->d, &fd, &e), 0);
	assert_int_equal(cache_write(second, "hello", 5, &e), 0);
	assert_int_equal(cache_commit(second, &e), 0);
	assert_int_equal(read(fd, have, sizeof(have)), 5);
	assert_true(cache_has(x->c, &x->d));
	must_have_hello(x);
	assert_int_equal(count_names(x, "sha256"), 1);
}

static void fill_archive(struct buf *b)
{
	tar_add(b, &(struct tar_entry){ .name = "bin/", .type = '5' });
	for (int i = 0; i < 200; i++) {
		autofree char *name = xasprintf("bin/plugin-%d", i);

		tar_add(b, &(struct tar_entry){
				   .name = name, .type = '0', .mode = 0755, .data = "elf" });
	}
	tar_end(b);
	tar_gzip(b);
}

static struct asset put_archive(struct box *x, const struct buf *b)
{
	struct asset as = { .name = "cni.tar.gz", .form = ASSET_TAR_GZ };
	struct err e;

	digest_of(DIGEST_SHA1, b->data, b->len, &as.digest);
	assert_int_equal(put(x, &as.digest, b->data, b->len, &e), 0);
	return as;
}

static void test_unpack_only_verified(void **state)
{
	struct box *x = *state;
	autobuf struct buf b = TAR_BUF;
	struct asset as;
	char name[CACHE_NAME_MAX];
	struct err e;

	fill_archive(&b);
	as = put_archive(x, &b);
	buf_done(&b);
	tar_add(&b, &(struct tar_entry){ .name = "trojan", .type = '0', .data = "x" });
	tar_end(&b);
	{
		const char *path = path_of(x, cache_entry_name(&as.digest, name));
		int fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);

		assert_int_equal(write(fd, b.data, b.len), b.len);
		(void)close(fd);
	}
	assert_int_equal(cache_take(x->c, x->a, &as, NULL, 0, &e), -ENOENT);
}

/* In a child: write until killed. */
static void run_until_killed(struct box *x, const struct buf *archive)
{
	struct asset as = { .name = "cni.tar.gz", .form = ASSET_TAR_GZ };
	char name[CACHE_NAME_MAX];
	struct err e;

	digest_of(DIGEST_SHA1, archive->data, archive->len, &as.digest);
	for (;;) {
		struct cache_entry *en;

		if (cache_new(x->root_fd, "/var/cache/nodeup", true, &x->c, &e) < 0 ||
		    cache_begin(x->c, &as.digest, &en, &e) < 0)
			_exit(1);
		for (size_t i = 0; i < archive->len; i++)
			if (cache_write(en, archive->data + i, 1, &e) < 0)
				_exit(1);
		if (cache_commit(en, &e) < 0)
			_exit(1);
		/* in one step, as everything: the next cache_new removes it */
		if (rename(path_of(x, cache_entry_name(&as.digest, name)), path_of(x, "tmp/gone")) <
		    0)
			_exit(1);
		cache_free(x->c);
	}
}

/* What a kill at any moment may leave is: no entry or the right one. */
static void test_killed_anywhere(void **state)
{
	struct box *x = *state;
	autobuf struct buf b = TAR_BUF;
	struct asset as = { .name = "cni.tar.gz", .form = ASSET_TAR_GZ };
	struct err e;

	fill_archive(&b);
	digest_of(DIGEST_SHA1, b.data, b.len, &as.digest);
	for (long ms = 1; ms <= 40; ms += 2) {
		const struct timespec nap = { .tv_nsec = ms * 1000 * 1000 };
		pid_t pid = fork();
		int status, fd;

		assert_true(pid >= 0);
		if (pid == 0)
			run_until_killed(x, &b);
		(void)nanosleep(&nap, NULL);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));

		open_cache(x, true);
		assert_int_equal(count_names(x, "tmp"), 0);
		if (cache_open(x->c, &as.digest, &fd, &e) == 0)
			(void)close(fd);
		else
			assert_int_equal(e.errnum, ENOENT);
		assert_int_equal(put(x, &as.digest, b.data, b.len, &e), 0);
		assert_int_equal(walk_remove(x->root_fd, "var/cache/nodeup"), 0);
	}
}

/* One writes the part, who comes second has a file of its own; both end with the right entry. */
static void test_parts(void **state)
{
	const struct cache_origin origin = { .total = 5, .marks = { { "http://a/b", "\"1\"" } } };
	struct box *x = *state;
	struct cache_entry *first, *second;
	char back[8], name[CACHE_NAME_MAX], entry[CACHE_NAME_MAX];
	struct extract_piece piece;
	struct err e;

	assert_int_equal(cache_resume(x->c, &x->d, NULL, &first, &e), 0);
	cache_suspend(first);
	assert_int_equal(count_names(x, "partial"), 0); /* of nothing there is nothing to keep */
	assert_int_equal(cache_resume(x->c, &x->d, NULL, &first, &e), 0);
	assert_int_equal(cache_resume(x->c, &x->d, NULL, &second, &e), 0);
	assert_int_equal(count_names(x, "partial"), 1);
	assert_int_equal(count_names(x, "tmp"), 1);
	cache_set_origin(first, &origin);
	assert_int_equal(cache_write(first, "hel", 3, &e), 0);
	assert_int_equal(cache_write(second, "hello", 5, &e), 0);
	cache_suspend(first);
	must_be_absent(x);
	assert_int_equal(cache_commit(second, &e), 0);
	assert_int_equal(count_names(x, "tmp"), 0);

	assert_int_equal(cache_resume(x->c, &x->d, NULL, &first, &e), 0);
	assert_int_equal(cache_spans(first)->sum, 3);
	assert_string_equal(cache_origin_of(first)->marks[0].etag, "\"1\"");
	assert_int_equal(cache_origin_of(first)->total, 5);
	assert_int_equal(cache_write_at(first, 3, "lo", 2, &e), 0);
	assert_int_equal(cache_follow(first, back, 4, &piece, &e), 0);
	assert_int_equal(piece.n, 4);
	assert_int_equal(piece.at, 0);
	assert_memory_equal(back, "hell", 4);
	assert_int_equal(cache_follow(first, back, 1, &piece, &e), 0);
	assert_int_equal(piece.n, 1);
	assert_int_equal(piece.at, 4);
	assert_int_equal(cache_commit(first, &e), 0);
	must_have_hello(x);
	assert_int_equal(count_names(x, "partial"), 0);
	cache_suspend(NULL);

	/* a part that is a published entry, too, is none: it is never cut or written to */
	cache_side_name("partial", &x->d, name);
	assert_int_equal(link(path_of(x, cache_entry_name(&x->d, entry)), path_of(x, name)), 0);
	assert_int_equal(cache_resume(x->c, &x->d, NULL, &first, &e), 0);
	assert_int_equal(cache_write(first, "HELLO", 5, &e), 0);
	cache_abort(first);
	must_have_hello(x);
}

/* A wrong part leaves nothing, a link is not followed, an old one is swept unless it is in use. */
static void test_parts_that_are_none(void **state)
{
	const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	const struct cache_origin origin = { .total = 5, .marks = { { "http://a/b" } } };
	struct box *x = *state;
	struct cache_entry *en;
	char name[CACHE_NAME_MAX];
	struct err e;

	cache_side_name("partial", &x->d, name);
	assert_int_equal(symlink("/etc/passwd", path_of(x, name)), 0);
	assert_int_equal(cache_resume(x->c, &x->d, NULL, &en, &e), 0);
	assert_int_equal(cache_spans(en)->sum, 0);
	cache_set_origin(en, &origin);
	assert_int_equal(cache_write(en, "HELLO", 5, &e), 0);
	assert_true(cache_commit(en, &e) < 0);
	assert_int_equal(count_names(x, "partial"), 0);

	assert_int_equal(cache_resume(x->c, &x->d, NULL, &en, &e), 0);
	assert_int_equal(cache_write(en, "hel", 3, &e), 0);
	assert_int_equal(utimensat(AT_FDCWD, path_of(x, name), old, 0), 0);
	cache_clean_tmp(x->c);
	assert_int_equal(count_names(x, "partial"), 1);
	cache_suspend(en);
	cache_clean_tmp(x->c);
	assert_int_equal(count_names(x, "partial"), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_put_and_open),
		TEST(test_wrong_bytes_leave_nothing),
		TEST(test_wrong_bytes_keep_the_right_ones),
		TEST(test_abort),
		TEST(test_parts),
		TEST(test_parts_that_are_none),
		TEST(test_entry_changed_on_disk),
		TEST(test_no_record_means_hash_again),
		TEST(test_entry_from_elsewhere),
		TEST(test_inspect),
		TEST(test_inspect_all_bytes),
		TEST(test_inspect_read_only),
		TEST(test_no_links_no_directories),
		TEST(test_read_only),
		TEST(test_read_only_and_absent),
		TEST(test_left_overs_are_removed),
		TEST(test_two_writers),
		TEST(test_unpack_only_verified),
		TEST(test_killed_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
