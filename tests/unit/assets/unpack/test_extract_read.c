#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>
#include "assets/unpack/extract.h"
#include "tests/unit/lib/tar.h"

static const struct extract_limits limits = { .entries = 100, .bytes = 1 << 20 };

static int read_all(struct arena *a, const struct buf *b, const struct extract_limits *l,
		    struct extract_files *ret, struct err *e)
{
	const struct extract_bytes archive = { b->data, b->len };

	*e = (struct err){ 0 };
	*ret = (struct extract_files){ 0 };
	return extract_read(a, "a.tar.gz", &archive, l, ret, e);
}

static void every_file_is_given(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf b = TAR_BUF;
	struct extract_files files;
	struct err e;

	(void)state;
	tar_add(&b, &(struct tar_entry){ .name = "./top/", .type = '5' });
	tar_add(&b, &(struct tar_entry){ .name = "./top/one.yaml", .type = '0', .data = "a: 1\n" });
	tar_add(&b, &(struct tar_entry){ .name = "top/empty", .type = '0' });
	tar_add(&b, &(struct tar_entry){ .name = "top/link", .type = '2', .link = "one.yaml" });
	tar_add(&b, &(struct tar_entry){ .name = "top/two", .type = '0', .data = "x\ny" });
	tar_end(&b);
	for (int zipped = 0; zipped < 2; zipped++) {
		if (zipped)
			tar_gzip(&b);
		if (read_all(a, &b, &limits, &files, &e) < 0)
			fail_msg("%s", e.msg);
		assert_int_equal(files.n, 3);
		assert_string_equal(files.v[0].path, "top/one.yaml");
		assert_string_equal(files.v[0].text, "a: 1\n");
		assert_int_equal(files.v[0].n, 5);
		assert_string_equal(files.v[1].path, "top/empty");
		assert_int_equal(files.v[1].n, 0);
		assert_string_equal(files.v[2].path, "top/two");
		assert_memory_equal(files.v[2].text, "x\ny", 4);
	}
}

static void must_refuse(const struct buf *b, const struct extract_limits *l, const char *why)
{
	autoarena struct arena *a = arena_new_empty();
	struct extract_files files;
	struct err e;

	assert_true(read_all(a, b, l, &files, &e) < 0);
	assert_int_equal(e.kind, ERR_INTEGRITY);
	if (!strstr(e.msg, why))
		fail_msg("'%s' is not in '%s'", why, e.msg);
	assert_int_equal(files.n, 0);
}

static void what_is_evil_is_refused(void **state)
{
	static const struct tar_entry evil[] = {
		{ .name = "../up", .type = '0', .data = "x" },
		{ .name = "/root", .type = '0', .data = "x" },
		{ .name = "dev", .type = '3' },
		{ .name = "setuid", .type = '0', .mode = 04755, .data = "x" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(evil); i++) {
		autobuf struct buf b = TAR_BUF;

		tar_add(&b, &evil[i]);
		tar_end(&b);
		must_refuse(&b, &limits, evil[i].name);
	}
}

static void limits_hold(void **state)
{
	autobuf struct buf b = TAR_BUF;

	(void)state;
	tar_add(&b, &(struct tar_entry){ .name = "one", .type = '0', .data = "12345" });
	tar_add(&b, &(struct tar_entry){ .name = "two", .type = '0', .data = "12345" });
	tar_end(&b);
	must_refuse(&b, &(struct extract_limits){ .entries = 1, .bytes = 100 },
		    "more entries than allowed");
	must_refuse(&b, &(struct extract_limits){ .entries = 9, .bytes = 9 },
		    "more bytes than allowed");
	b.len -= 1024 + 512;
	must_refuse(&b, &limits, "broken or truncated");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_file_is_given),
		cmocka_unit_test(what_is_evil_is_refused),
		cmocka_unit_test(limits_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
