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
#include <zlib.h>
#include "assets/unpack/extract.h"
#include "tests/unit/lib/tar.h"

enum { MIB = 1024 * 1024 };

static int extract(const struct buf *b, const struct extract_limits *limits, struct err *e)
{
	autoclose int fd = memfd_create("archive", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, b->data, b->len), b->len);
	return tar_extract(fd, "a.tar", limits, e);
}

static void must_refuse(const struct buf *b, const struct extract_limits *limits, const char *says)
{
	struct err e = { .kind = ERR_NONE };
	int r = extract(b, limits, &e);

	if (r >= 0 || e.kind != ERR_INTEGRITY || !strstr(e.msg, says) || !strstr(e.msg, "'a.tar'"))
		fail_msg("r %d kind %d '%s', wanted '%s'", r, e.kind, e.msg, says);
}

static const struct extract_limits roomy = { 10000, UINT64_C(1) << 32, NULL };

/* Compress what is in plain and append it as a member of its own, n times; plain is empty then. */
static void add_members(struct buf *b, struct buf *plain, size_t n)
{
	tar_gzip(plain);
	while (n-- > 0)
		assert_int_equal(buf_add(b, plain->data, plain->len), 0);
	buf_done(plain);
}

static void add_zeros(struct buf *b, size_t n)
{
	autofree char *zeros = xcalloc(n, 1);

	assert_int_equal(buf_add(b, zeros, n), 0);
}

/* 40 MiB of nothing in 40 kB. */
static void test_ratio(void **state)
{
	(void)state;
	struct tar_entry t = { .name = "bomb", .type = '0', .size = UINT64_C(40) * MIB };
	autobuf struct buf b = TAR_BUF, part = TAR_BUF;

	tar_add(&part, &t);
	add_members(&b, &part, 1);
	add_zeros(&part, MIB);
	add_members(&b, &part, 40);
	tar_end(&part);
	add_members(&b, &part, 1);
	must_refuse(&b, &roomy, "entry 'bomb' refused: the archive unpacks to more than 256 times");
}

/* The same behind the end, where nobody would look for it. */
static void test_endless_end(void **state)
{
	(void)state;
	autobuf struct buf b = TAR_BUF, part = TAR_BUF;

	tar_add(&part, &(struct tar_entry){ .name = "f", .type = '0', .data = "x" });
	tar_end(&part);
	add_members(&b, &part, 1);
	add_zeros(&part, MIB);
	add_members(&b, &part, 40);
	must_refuse(&b, &roomy, "more than 256 times its size");
}

/* An extended header of 40 MiB, and a name of 2 MiB. */
static void test_headers(void **state)
{
	(void)state;
	static const char types[] = "xgLK";

	for (const char *type = types; *type; type++) {
		autobuf struct buf b = TAR_BUF, part = TAR_BUF;
		struct tar_entry t = { .name = "h", .type = *type, .size = UINT64_C(40) * MIB };

		tar_add(&part, &t);
		add_members(&b, &part, 1);
		add_zeros(&part, MIB);
		add_members(&b, &part, 40);
		tar_add(&part, &(struct tar_entry){ .name = "f", .type = '0', .data = "x" });
		tar_end(&part);
		add_members(&b, &part, 1);
		must_refuse(&b, &roomy, "archive 'a.tar'");
	}
}

/* A file of so many bytes, none of which is in the archive. */
static void add_sparse(struct buf *b, const char *name, const char *size)
{
	const char *const records[][2] = {
		{ "GNU.sparse.size", size },
		{ "GNU.sparse.numblocks", "1" },
		{ "GNU.sparse.offset", "0" },
		{ "GNU.sparse.numbytes", "0" },
	};
	char pax[256] = "";

	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		const size_t n = strlen(records[i][0]) + strlen(records[i][1]) + strlen("nn =\n");
		char text[64];

		/* the length counts itself, which has two digits */
		(void)snprintf(text, sizeof(text), "%zu %s=%s\n", n, records[i][0], records[i][1]);
		strncat(pax, text, sizeof(pax) - strlen(pax) - 1);
	}
	tar_add(b, &(struct tar_entry){ .name = "pax", .type = 'x', .data = pax });
	tar_add(b, &(struct tar_entry){ .name = name, .type = '0' });
}

/* 2^60 bytes */
static void test_sparse(void **state)
{
	(void)state;
	autobuf struct buf b = TAR_BUF;

	add_sparse(&b, "holes", "1152921504606846976");
	tar_end(&b);
	must_refuse(&b, &roomy, "entry 'holes' refused: the archive unpacks to more bytes");
}

/* As much of nothing as the limit on bytes lets through: each who reads it would have to. */
static void test_sparse_within_the_limit(void **state)
{
	(void)state;
	autobuf struct buf b = TAR_BUF;

	add_sparse(&b, "hole", "1073741824");
	tar_end(&b);
	must_refuse(&b, &roomy, "entry 'hole' refused: the archive unpacks to more than 256");
}

/* Many small ones come to the same, and one alone is none. */
static void test_sparse_in_sum(void **state)
{
	(void)state;
	autobuf struct buf b = TAR_BUF, one = TAR_BUF;
	struct err e;

	add_sparse(&one, "hole", "10485760");
	tar_end(&one);
	assert_int_equal(extract(&one, &roomy, &e), 0);
	for (int i = 0; i < 8; i++)
		add_sparse(&b, "hole", "10485760");
	tar_end(&b);
	must_refuse(&b, &roomy, "entry 'hole' refused: the archive unpacks to more than 256");
}

/* Ever the same entry: one file in the end, and more work than allowed. */
static void test_many_entries(void **state)
{
	(void)state;
	static const struct extract_limits few = { 5000, UINT64_C(1) << 32, NULL };
	autobuf struct buf b = TAR_BUF, part = TAR_BUF;

	for (int i = 0; i < 1000; i++)
		tar_add(&part, &(struct tar_entry){ .name = "f", .type = '0' });
	add_members(&b, &part, 100);
	tar_end(&part);
	add_members(&b, &part, 1);
	must_refuse(&b, &few, "entry 'f' refused: the archive has more entries");
}

/* Few entries and many directories. */
static void test_implied_directories(void **state)
{
	(void)state;
	static const struct extract_limits few = { 200, UINT64_C(1) << 32, NULL };
	autobuf struct buf b = TAR_BUF;
	char name[2 * 100 + 8];

	for (int i = 0; i < 10; i++) {
		int n = snprintf(name, sizeof(name), "%d", i);

		for (int k = 0; k < 60; k++)
			n += snprintf(name + n, sizeof(name) - (size_t)n, "/d");
		tar_add(&b, &(struct tar_entry){ .name = name, .type = '0' });
	}
	tar_end(&b);
	must_refuse(&b, &few, "refused: the archive has more entries");
}

/* Compressed twice is none of what kubelet's makers publish, and a way around the ratio. */
static void test_nested(void **state)
{
	(void)state;
	static void (*const compress[])(struct buf * b) = { tar_gzip, tar_xz, tar_zstd };

	for (size_t outer = 0; outer < ARRAY_LEN(compress); outer++)
		for (size_t inner = 0; inner < ARRAY_LEN(compress); inner++) {
			autobuf struct buf b = TAR_BUF;

			tar_add(&b, &(struct tar_entry){ .name = "f", .type = '0', .data = "x" });
			tar_end(&b);
			compress[inner](&b);
			compress[outer](&b);
			must_refuse(&b, &roomy,
				    outer == 0 || inner == 0 ? "no tar archive"
							     : "compressed more than once");
		}
}

/* Behind the tar archive, and behind the compressed data; zeros are what tapes end with. */
static void test_trailing(void **state)
{
	(void)state;
	static void (*const compress[])(struct buf * b) = { NULL, tar_gzip, tar_xz, tar_zstd };
	struct err e;

	for (size_t i = 0; i < ARRAY_LEN(compress); i++) {
		autobuf struct buf b = TAR_BUF, c = TAR_BUF;

		tar_add(&b, &(struct tar_entry){ .name = "f", .type = '0', .data = "x" });
		tar_end(&b);
		add_zeros(&b, 9000);
		assert_int_equal(buf_add(&c, b.data, b.len), 0);
		if (compress[i])
			compress[i](&c);
		if (extract(&c, &roomy, &e) < 0)
			fail_msg("%s", e.msg);
		assert_int_equal(buf_adds(&c, "garbage"), 0);
		must_refuse(&c, &roomy, i ? "broken" : "something follows");

		assert_int_equal(buf_adds(&b, "hidden"), 0);
		add_zeros(&b, 9000);
		if (compress[i])
			compress[i](&b);
		must_refuse(&b, &roomy, "something follows the end of the tar archive");
	}
}

/* A window that would take a gigabyte to look into. */
static void test_window(void **state)
{
	(void)state;
	static const unsigned char frame[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8,
					       0x01, 0x00, 0x00, 0x00, 0x00, 0x00 };
	autobuf struct buf b = TAR_BUF;

	assert_int_equal(buf_add(&b, frame, sizeof(frame)), 0);
	must_refuse(&b, &roomy, "refused: it takes more than 32 MiB of memory");
}

/* An xz that names a larger window than it needs: its one filter's property, and the checksum over it. */
static void set_window(struct buf *b, uint8_t property)
{
	enum { HEADER = 12 }; /* of the stream; then the block's */
	uint8_t *block = (uint8_t *)b->data + HEADER;
	const size_t size = ((size_t)block[0] + 1) * 4;
	size_t at = 2;
	uint32_t crc;

	while (block[at] != 0x21)
		at++;
	block[at + 2] = property;
	crc = (uint32_t)crc32(0, block, (unsigned int)size - 4);
	for (int i = 0; i < 4; i++)
		block[size - 4 + (size_t)i] = (uint8_t)(crc >> 8 * i);
}

static void test_window_of_xz(void **state)
{
	(void)state;
	autobuf struct buf b = TAR_BUF, large = TAR_BUF;
	struct err e;

	/* 64 MiB, as xz -9 says of all it makes: what is small does not fill it */
	tar_add(&b, &(struct tar_entry){ .name = "f", .type = '0', .data = "x" });
	tar_end(&b);
	tar_xz(&b);
	assert_int_equal(buf_add(&large, b.data, b.len), 0);
	set_window(&b, 28);
	if (extract(&b, &roomy, &e) < 0)
		fail_msg("%s", e.msg);
#ifndef __SANITIZE_THREAD__ /* it needs memory of its own beyond the limit, and dies where there is none */
	/* 512 MiB */
	set_window(&large, 34);
	must_refuse(&large, &roomy, "refused: it takes more than 32 MiB of memory");
#endif
}

#define TEST(f) cmocka_unit_test(f)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_ratio),
		TEST(test_endless_end),
		TEST(test_headers),
		TEST(test_sparse),
		TEST(test_many_entries),
		TEST(test_implied_directories),
		TEST(test_nested),
		TEST(test_trailing),
		TEST(test_window),
		TEST(test_window_of_xz),
		TEST(test_sparse_within_the_limit),
		TEST(test_sparse_in_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
