#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "assets/unpack/extract.h"
#include "nodeup/base/mem.h"
#include "tests/unit/lib/tar.h"

static int extract_limited(const struct buf *b, const struct extract_limits *limits, struct err *e)
{
	autoclose int fd = memfd_create("archive", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->len ? b->data : "", b->len), b->len);
	/* the offset is at the end: it must not matter */
	return tar_extract(fd, "a.tar", limits, e);
}

static int extract(const struct buf *b, struct err *e)
{
	return extract_limited(b, &(struct extract_limits){ 1000, 1 << 20, NULL }, e);
}

static int extract_entries(const struct tar_entry *t, size_t n, struct err *e)
{
	autobuf struct buf b = TAR_BUF;

	for (size_t i = 0; i < n; i++)
		tar_add(&b, &t[i]);
	tar_end(&b);
	return extract(&b, e);
}

/* The member of that name is at that path, with that text. */
static void must_have(const struct buf *b, const char *path, const char *text)
{
	autoarena struct arena *a = arena_new_empty();
	autoclose int fd = memfd_create("archive", MFD_CLOEXEC);
	autoclose int to = memfd_create("member", MFD_CLOEXEC);
	struct extract_take take = { .member = str_basename(path), .fd = to };
	char have[64] = { 0 };
	struct err e;

	assert_int_equal(write(fd, b->data, b->len), b->len);
	if (extract_take(a, fd, "a.tar", &(struct extract_limits){ 1000, 1 << 20, NULL }, &take, 1,
			 &e) < 0)
		fail_msg("%s", e.msg);
	assert_string_equal(take.path, path);
	assert_true(pread(to, have, sizeof(have) - 1, 0) >= 0);
	assert_string_equal(have, text);
}

static void must_refuse(const struct tar_entry *t, size_t n, const char *says)
{
	struct err e = { .kind = ERR_NONE };
	int r = extract_entries(t, n, &e);

	if (r >= 0 || e.kind != ERR_INTEGRITY || !strstr(e.msg, says) || !strstr(e.msg, "'a.tar'"))
		fail_msg("r %d kind %d '%s', wanted '%s'", r, e.kind, e.msg, says);
}

#define REFUSE(says, ...)                                            \
	do {                                                         \
		const struct tar_entry entries_[] = { __VA_ARGS__ }; \
		must_refuse(entries_, ARRAY_LEN(entries_), (says));  \
	} while (0)

static void fill_good(struct buf *b)
{
	static const struct tar_entry entries[] = {
		{ "./", '5', NULL, 0700, NULL, 0 },
		{ "./bin/", '5', NULL, 0555, NULL, 0 },
		{ "./bin/bridge", '0', NULL, 0755, "elf", 0 },
		{ "bin//loopback", '1', "./bin/bridge", 0, NULL, 0 },
		{ "bin/host-local", '2', "bridge", 0, NULL, 0 },
		{ "deep/er/file", '0', NULL, 0600, "deep", 0 },
		{ "deep/up", '2', "../bin/./bridge", 0, NULL, 0 },
		{ "deep/er/top", '2', "../..", 0, NULL, 0 },
		{ "dangling", '2', "not/there", 0, NULL, 0 },
		{ "empty", '0', NULL, 0, NULL, 0 },
		{ "empty", '0', NULL, 0, "twice: the last one counts", 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		tar_add(b, &entries[i]);
	tar_end(b);
}

static void test_good(void **state)
{
	(void)state;
	static void (*const compress[])(struct buf * b) = { NULL, tar_gzip, tar_xz, tar_zstd };

	for (size_t i = 0; i < ARRAY_LEN(compress); i++) {
		autobuf struct buf b = TAR_BUF;
		struct err e;

		fill_good(&b);
		if (compress[i])
			compress[i](&b);
		if (extract(&b, &e) < 0)
			fail_msg("%s", e.msg);
		must_have(&b, "bin/bridge", "elf");
		must_have(&b, "bin/loopback", "elf");
		must_have(&b, "deep/er/file", "deep");
		must_have(&b, "empty", "twice: the last one counts");
	}
}

static void test_names_that_leave(void **state)
{
	(void)state;
	REFUSE("absolute name", { .name = "/etc/evil", .type = '0' });
	REFUSE("absolute name", { .name = "//evil", .type = '5' });
	REFUSE("'..' in the name", { .name = "../evil", .type = '0' });
	REFUSE("'..' in the name", { .name = "a/../../evil", .type = '0' });
	REFUSE("'..' in the name", { .name = "a/..", .type = '5' });
	REFUSE("'..' in the name", { .name = "./..", .type = '2', .link = "x" });
	REFUSE("no name", { .name = ".", .type = '0', .data = "x" });
	REFUSE("no name", { .name = "./.", .type = '2', .link = "x" });
}

static void test_links_that_leave(void **state)
{
	(void)state;
	REFUSE("a link to an absolute path", { .name = "l", .type = '2', .link = "/etc/passwd" });
	REFUSE("leaves the tree", { .name = "l", .type = '2', .link = "../outside" });
	REFUSE("leaves the tree", { .name = "a/l", .type = '2', .link = "../../outside" });
	REFUSE("leaves the tree", { .name = "a/l", .type = '2', .link = ".././../outside" });
	/* inside by its text, outside by way of "up", which is deeper than what it points to */
	REFUSE("leaves the tree", { .name = "a/b/up", .type = '2', .link = "../.." },
	       { .name = "l", .type = '2', .link = "a/b/up/../outside" });
	REFUSE("leaves the tree", { .name = "a/b/up", .type = '2', .link = "../.." },
	       { .name = "a/b/l", .type = '2', .link = "up/../outside" });
	REFUSE("without a target", { .name = "l2", .type = '2', .link = "" });
}

static void test_hard_links(void **state)
{
	(void)state;
	REFUSE("absolute name", { .name = "h", .type = '1', .link = "/etc/passwd" });
	REFUSE("'..' in the name", { .name = "h", .type = '1', .link = "../outside/victim" });
	REFUSE("no earlier file", { .name = "h", .type = '1', .link = "missing" });
	REFUSE("no earlier file", { .name = "d/", .type = '5' },
	       { .name = "h", .type = '1', .link = "d" });
	REFUSE("no earlier file", { .name = "s", .type = '2', .link = "t" },
	       { .name = "h", .type = '1', .link = "s" });
	REFUSE("a link to itself", { .name = "f", .type = '0', .data = "x" },
	       { .name = "f", .type = '1', .link = "./f" });
}

static void test_never_through_a_link(void **state)
{
	(void)state;
	REFUSE("a link or a file", { .name = "d/", .type = '5' },
	       { .name = "l", .type = '2', .link = "d" }, { .name = "l/f", .type = '0' });
	REFUSE("a link or a file", { .name = "f", .type = '0', .data = "x" },
	       { .name = "f/g", .type = '0', .data = "x" });
}

static void test_directories_stay(void **state)
{
	(void)state;
	REFUSE("replace a directory", { .name = "d/", .type = '5' },
	       { .name = "d", .type = '2', .link = "x" });
	REFUSE("replace a directory", { .name = "d/f", .type = '0' },
	       { .name = "d", .type = '0', .data = "x" });
	REFUSE("replace a directory", { .name = "f", .type = '0', .data = "x" },
	       { .name = "d/", .type = '5' }, { .name = "d", .type = '1', .link = "f" });
	REFUSE("in place of something else", { .name = "x", .type = '0' },
	       { .name = "x/", .type = '5' });
}

static void test_special_files_and_modes(void **state)
{
	(void)state;
	REFUSE("neither file, directory nor link", { .name = "dev", .type = '3' });
	REFUSE("neither file, directory nor link", { .name = "dev", .type = '4' });
	REFUSE("neither file, directory nor link", { .name = "fifo", .type = '6' });
	REFUSE("setuid or setgid", { .name = "su", .type = '0', .mode = 04755 });
	REFUSE("setuid or setgid", { .name = "sg", .type = '0', .mode = 02755 });
	REFUSE("setuid or setgid", { .name = "sd/", .type = '5', .mode = 02755 });
	REFUSE("setuid or setgid", { .name = "f", .type = '0' },
	       { .name = "h", .type = '1', .link = "f", .mode = 04755 });
}

static void test_long_names(void **state)
{
	(void)state;
	char name[4200], part[300];
	struct tar_entry t = { .name = name, .type = '0' };
	struct err e;
	size_t n = 0;

	/* 4095 bytes of parts of 254 do, one byte more does not */
	while (n < 4095)
		name[n] = n % 255 == 254 ? '/' : 'n', n++;
	name[n] = '\0';
	if (extract_entries(&t, 1, &e) < 0)
		fail_msg("%s", e.msg);
	name[n] = 'n';
	name[n + 1] = '\0';
	must_refuse(&t, 1, "more than 4095 bytes");
	REFUSE("endless link target", { .name = "l", .type = '2', .link = name });

	memset(part, 'p', sizeof(part));
	part[256] = '\0';
	t.name = part;
	must_refuse(&t, 1, "more than 255 bytes");

	for (n = 0; n < 2 * 129; n++)
		name[n] = n % 2 ? '/' : 'd';
	name[n - 1] = '\0';
	t.name = name;
	must_refuse(&t, 1, "more than 128 directories");
}

static void test_names_are_bytes(void **state)
{
	(void)state;
	static const struct tar_entry t = { .name = "caf\xc3\xa9-\xff", .type = '0', .data = "x" };
	static const struct tar_entry evil = { .name = "\x1b[2Jevil\n", .type = '6' };
	autobuf struct buf b = TAR_BUF;
	struct err e;

	tar_add(&b, &t);
	tar_end(&b);
	must_have(&b, "caf\xc3\xa9-\xff", "x");
	buf_done(&b);
	tar_add(&b, &evil);
	tar_end(&b);
	assert_true(extract(&b, &e) < 0);
	assert_non_null(strstr(e.msg, "'?[2Jevil?'"));
}

/* A UTF-8 name by pax, in the C locale that a static program has. */
static void test_pax_names(void **state)
{
	(void)state;
	static const char record[] = "20 path=\xc3\xa9t\xc3\xa9/x.txt\n";
	struct tar_entry pax = { .name = "pax", .type = 'x', .data = record };
	struct tar_entry t = { .name = "x.txt", .type = '0', .data = "pax" };
	struct tar_entry evil = { .name = "pax", .type = 'x', .data = "20 path=../../evil!\n" };
	autobuf struct buf b = TAR_BUF;
	struct err e;

	assert_int_equal(strlen(record), 20);
	tar_add(&b, &pax);
	tar_add(&b, &t);
	tar_end(&b);
	if (extract(&b, &e) < 0)
		fail_msg("%s", e.msg);
	must_have(&b, "\xc3\xa9t\xc3\xa9/x.txt", "pax");
	{
		const struct tar_entry both[] = { evil, t };

		must_refuse(both, 2, "'..' in the name");
	}
}

static void test_limits(void **state)
{
	(void)state;
	static const struct tar_entry entries[] = {
		{ .name = "a", .type = '0', .data = "12345" },
		{ .name = "b", .type = '0', .data = "12345" },
	};
	autobuf struct buf b = TAR_BUF;
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(entries); i++)
		tar_add(&b, &entries[i]);
	tar_end(&b);
	assert_int_equal(extract_limited(&b, &(struct extract_limits){ 2, 10, NULL }, &e), 0);
	assert_true(extract_limited(&b, &(struct extract_limits){ 1, 10, NULL }, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	assert_non_null(strstr(e.msg, "more entries than allowed"));
	assert_true(extract_limited(&b, &(struct extract_limits){ 2, 9, NULL }, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	assert_non_null(strstr(e.msg, "more bytes than allowed"));
}

/* 8 GiB in one header: refused by the header, before a byte of it is written. */
static void test_bomb(void **state)
{
	(void)state;
	autobuf struct buf b = TAR_BUF;
	struct tar_entry t = { .name = "bomb", .type = '0', .size = UINT64_C(8) << 30 };
	struct err e;

	t.size -= 1;
	tar_add(&b, &t);
	tar_end(&b);
	tar_gzip(&b);
	assert_true(extract(&b, &e) < 0);
	assert_non_null(strstr(e.msg, "more bytes than allowed"));
}

static void test_truncated(void **state)
{
	(void)state;
	static void (*const compress[])(struct buf * b) = { NULL, tar_gzip, tar_xz, tar_zstd };

	for (size_t i = 0; i < ARRAY_LEN(compress); i++) {
		autobuf struct buf b = TAR_BUF;
		autofree char *noise = xcalloc(60001, 1);
		struct tar_entry t = { .name = "f", .type = '0', .data = noise };
		struct err e;
		uint32_t x = 1;

		for (size_t k = 0; k < 60000; k++) {
			x = x * 1664525 + 1013904223;
			noise[k] = (char)('a' + (x >> 24) % 26);
		}
		tar_add(&b, &t);
		tar_end(&b);
		if (compress[i])
			compress[i](&b);
		b.len -= b.len / 3;
		assert_true(extract(&b, &e) < 0);
		assert_int_equal(e.kind, ERR_INTEGRITY);
		if (!strstr(e.msg, "truncated"))
			fail_msg("%s", e.msg);
	}
}

static void test_flipped_bit(void **state)
{
	(void)state;
	static void (*const compress[])(struct buf * b) = { tar_gzip, tar_xz };

	for (size_t i = 0; i < ARRAY_LEN(compress); i++) {
		autobuf struct buf b = TAR_BUF;
		struct err e;

		fill_good(&b);
		compress[i](&b);
		b.data[b.len / 2] ^= 0x10;
		assert_true(extract(&b, &e) < 0);
		assert_int_equal(e.kind, ERR_INTEGRITY);
	}
}

static void test_not_an_archive(void **state)
{
	(void)state;
	static const struct {
		const char *bytes;
		size_t n;
		const char *says;
	} cases[] = {
		{ "", 0, "is empty" },
		{ "PK\3\4 and so on, a zip", 22, "is a zip file" },
		{ "<!DOCTYPE html><title>Sign in</title>", 37, "no tar archive" },
		{ "\x7f"
		  "ELF\2\1\1",
		  7, "no tar archive" },
		{ "BZh91AY&SY", 10, "no tar archive" },
		{ "070701 a cpio", 13, "no tar archive" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		autobuf struct buf b = TAR_BUF;
		struct err e;

		assert_int_equal(buf_add(&b, cases[i].bytes, cases[i].n), 0);
		assert_true(extract(&b, &e) < 0);
		assert_int_equal(e.kind, ERR_INTEGRITY);
		if (!strstr(e.msg, cases[i].says))
			fail_msg("%s", e.msg);
	}
}

static void test_empty_archives(void **state)
{
	(void)state;
	autobuf struct buf b = TAR_BUF;
	struct err e;

	tar_end(&b);
	assert_true(extract(&b, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	buf_done(&b);
	/* a gzip of nothing */
	tar_gzip(&b);
	assert_true(extract(&b, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
}

static void test_unreadable_is_no_lie(void **state)
{
	(void)state;
	autoclose int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err e;

	/* a directory cannot be read: the disk's fault, not the archive's */
	assert_true(tar_extract(fd, "a.tar", &(struct extract_limits){ 1, 1, NULL }, &e) < 0);
	assert_int_equal(e.kind, ERR_SYSTEM);
	assert_int_equal(e.errnum, EISDIR);
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_good),
		TEST(test_names_that_leave),
		TEST(test_links_that_leave),
		TEST(test_hard_links),
		TEST(test_never_through_a_link),
		TEST(test_directories_stay),
		TEST(test_special_files_and_modes),
		TEST(test_long_names),
		TEST(test_names_are_bytes),
		TEST(test_pax_names),
		TEST(test_limits),
		TEST(test_bomb),
		TEST(test_truncated),
		TEST(test_flipped_bit),
		TEST(test_not_an_archive),
		TEST(test_empty_archives),
		TEST(test_unreadable_is_no_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
