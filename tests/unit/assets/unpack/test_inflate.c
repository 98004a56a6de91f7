#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "assets/unpack/inflate.h"
#include "nodeup/base/buf.h"

enum { PLAIN = 300 * 1000, HEADER = 10, TRAILER = 8 };

/* Bytes given in pieces of `step`. */
struct source {
	const struct buf *b;
	size_t at, step;
	int fails; /* instead of the end: a negative errno, 0 it ends */
};

static ssize_t give(void *arg, const void **ret)
{
	struct source *s = arg;
	size_t n = s->b->len - s->at < s->step ? s->b->len - s->at : s->step;

	*ret = s->b->data + s->at;
	s->at += n;
	return n == 0 ? s->fails : (ssize_t)n;
}

/* Inflate all of b in such pieces into out; 0 or the error. */
static int inflate_all(struct source s, struct buf *out, const char **why)
{
	struct inflate *z = inflate_new(give, &s);
	const void *p;
	ssize_t n;

	*why = NULL;
	while ((n = inflate_read(z, &p, why)) > 0)
		assert_int_equal(buf_add(out, p, (size_t)n), 0);
	inflate_free(z);
	return (int)n;
}

static char *make_plain(void)
{
	char *p = xcalloc(PLAIN, 1);
	uint32_t seed = 7;

	for (size_t i = 0; i < PLAIN; i++) {
		seed = seed * 1664525 + 1013904223;
		/* text-like, with stretches that repeat */
		p[i] = i % 5000 > 2500 ? p[i - 2500] : (char)('a' + (seed >> 24) % 26);
	}
	return p;
}

/* One member of n bytes, with a header that carries what `flags` say. */
static void add_member(struct buf *b, const char *plain, size_t n, unsigned int flags)
{
	unsigned char extra[] = "extra";
	gz_header h = { .os = 255, .time = 1500000000 };
	z_stream z = { .next_in = (unsigned char *)(uintptr_t)plain, .avail_in = (unsigned int)n };
	autofree unsigned char *out = xcalloc(n + 4096, 1);
	char name[] = "a name of a file", comment[] = "and a comment";

	if (flags & 1)
		h.hcrc = 1;
	if (flags & 2) {
		h.extra = extra;
		h.extra_len = sizeof(extra);
	}
	h.name = flags & 4 ? (unsigned char *)name : NULL;
	h.comment = flags & 8 ? (unsigned char *)comment : NULL;
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflateSetHeader(&z, &h), Z_OK);
	z.next_out = out;
	z.avail_out = (unsigned int)n + 4096;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(buf_add(b, out, z.total_out), 0);
	(void)deflateEnd(&z);
}

static void must_be(const struct buf *b, size_t step, const char *plain, size_t n)
{
	autobuf struct buf out = BUF_INIT(4 * PLAIN);
	const char *why;
	int r = inflate_all((struct source){ .b = b, .step = step }, &out, &why);

	if (r < 0 || out.len != n || (n && memcmp(out.data, plain, n) != 0))
		fail_msg("pieces of %zu: %d, %zu of %zu bytes, %s", step, r, out.len, n,
			 why ? why : "");
}

static void must_fail(const struct buf *b, const char *says)
{
	static const size_t steps[] = { 1, 7, 1 << 20 };

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		autobuf struct buf out = BUF_INIT(4 * PLAIN);
		const char *why;
		int r = inflate_all((struct source){ .b = b, .step = steps[i] }, &out, &why);

		if (r != -EBADMSG || !why || !strstr(why, says))
			fail_msg("%d '%s', wanted '%s'", r, why ? why : "", says);
	}
}

static void test_members(void **state)
{
	static const size_t steps[] = { 1, 2, 3, 1000, 4096, 1 << 20 };
	autofree char *plain = make_plain();
	(void)state;

	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		autobuf struct buf b = BUF_INIT(4 * PLAIN);

		add_member(&b, plain, PLAIN, 0);
		must_be(&b, steps[i], plain, PLAIN);
		buf_done(&b);
		/* an empty one, a short one, the rest; then what a tape adds */
		add_member(&b, plain, 0, 0);
		add_member(&b, plain, 1, 0);
		add_member(&b, plain + 1, 99, 0);
		add_member(&b, plain + 100, PLAIN - 100, 0);
		must_be(&b, steps[i], plain, PLAIN);
		assert_int_equal(buf_add(&b, "\0\0\0\0\0\0\0\0", 8), 0);
		must_be(&b, steps[i], plain, PLAIN);
	}
}

/* Cut anywhere into two pieces. */
static void test_every_boundary(void **state)
{
	autofree char *plain = make_plain();
	autobuf struct buf b = BUF_INIT(4 * PLAIN);
	(void)state;

	add_member(&b, plain, 300, 15);
	add_member(&b, plain + 300, 300, 0);
	for (size_t step = 1; step <= b.len; step++)
		must_be(&b, step, plain, 600);
}

static void test_header_flags(void **state)
{
	autofree char *plain = make_plain();
	(void)state;

	for (unsigned int flags = 0; flags < 16; flags++) {
		autobuf struct buf b = BUF_INIT(4 * PLAIN);

		add_member(&b, plain, 5000, flags);
		add_member(&b, plain + 5000, 5000, 15 - flags);
		must_be(&b, 1, plain, 10000);
		must_be(&b, 1 << 20, plain, 10000);
	}
}

static void test_truncated(void **state)
{
	autofree char *plain = make_plain();
	autobuf struct buf b = BUF_INIT(4 * PLAIN);
	size_t whole;
	(void)state;

	add_member(&b, plain, 2000, 0);
	whole = b.len;
	for (b.len = 1; b.len < whole; b.len++)
		must_fail(&b, "truncated");
}

static void test_wrong(void **state)
{
	static const struct {
		size_t back; /* from the end */
		const char *says;
	} cases[] = { { 1, "checksum or length" }, { TRAILER, "checksum or length" } };
	autofree char *plain = make_plain();
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		autobuf struct buf b = BUF_INIT(4 * PLAIN);

		add_member(&b, plain, 2000, 0);
		b.data[b.len - cases[i].back] ^= 1;
		must_fail(&b, cases[i].says);
	}
	{
		autobuf struct buf b = BUF_INIT(4 * PLAIN);

		add_member(&b, plain, 2000, 0);
		b.data[2] = 7; /* a method that is not deflate */
		must_fail(&b, "header");
		b.data[2] = 8;
		b.data[HEADER] = (char)0xff; /* a block of a kind that is none */
		must_fail(&b, "broken");
	}
}

static void test_trailing(void **state)
{
	autofree char *plain = make_plain();
	(void)state;

	for (size_t zeros = 0; zeros < 3; zeros++) {
		autobuf struct buf b = BUF_INIT(4 * PLAIN);

		add_member(&b, plain, 2000, 0);
		assert_int_equal(buf_add(&b, "\0\0\0", zeros), 0);
		assert_int_equal(buf_addc(&b, 'x'), 0);
		must_fail(&b, "something follows");
	}
}

/* What the reader says is passed on, and is not the archive's fault. */
static void test_reader_fails(void **state)
{
	autofree char *plain = make_plain();
	autobuf struct buf b = BUF_INIT(4 * PLAIN), out = BUF_INIT(4 * PLAIN);
	const char *why;
	(void)state;

	add_member(&b, plain, 2000, 0);
	b.len /= 2;
	assert_int_equal(inflate_all((struct source){ .b = &b, .step = 64, .fails = -EIO }, &out,
				     &why),
			 -EIO);
	assert_null(why);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members),      cmocka_unit_test(test_every_boundary),
		cmocka_unit_test(test_header_flags), cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_wrong),        cmocka_unit_test(test_trailing),
		cmocka_unit_test(test_reader_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
