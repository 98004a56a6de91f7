#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "assets/digest.h"
#include "nodeup/base/mem.h"
#include "tests/unit/lib/origin.h"

#define ABC_1 "a9993e364706816aba3e25717850c26c9cd0d89d"
#define ABC_256 "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define ABC_512                                                            \
	"ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a" \
	"2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"

/* FIPS 180-4's own example, the message "abc". */
static void test_known_answers(void **state)
{
	static const struct {
		enum digest_algo algo;
		const char *name, *hex;
	} cases[] = {
		{ DIGEST_SHA1, "sha1", ABC_1 },
		{ DIGEST_SHA256, "sha256", ABC_256 },
		{ DIGEST_SHA512, "sha512", ABC_512 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char hex[DIGEST_TEXT_MAX];
		struct digest d, parsed;
		struct err e;

		digest_of(cases[i].algo, "abc", 3, &d);
		assert_string_equal(digest_hex(&d, hex), cases[i].hex);
		assert_string_equal(digest_algo_name(d.algo), cases[i].name);
		assert_int_equal(digest_parse(cases[i].hex, strlen(cases[i].hex), &parsed, &e), 0);
		assert_true(digest_eq(&d, &parsed));
	}
}

static void test_pieces_and_file(void **state)
{
	enum { N = 600 * 1000 };
	autofree unsigned char *body = origin_body(N);
	struct digest whole, pieces, file, other;
	char path[64];
	struct err e;
	int fd;

	(void)state;
	digest_of(DIGEST_SHA256, body, N, &whole);
	{
		autodigest struct digest_ctx *c = digest_new(DIGEST_SHA256);

		for (size_t at = 0; at < N; at += 1000)
			digest_update(c, body + at, 1000);
		digest_final(c, &pieces);
	}
	assert_true(digest_eq(&whole, &pieces));

	tmp_make(path);
	tmp_write(path, "f", body, N);
	{
		autofree char *name = xasprintf("%s/f", path);

		fd = open(name, O_RDONLY | O_CLOEXEC);
	}
	assert_true(fd >= 0);
	assert_int_equal(lseek(fd, 5, SEEK_SET), 5);
	assert_int_equal(digest_of_fd(DIGEST_SHA256, fd, "f", &file, &e), 0);
	assert_true(digest_eq(&whole, &file));
	assert_int_equal(lseek(fd, 0, SEEK_CUR), 5);
	assert_int_equal(digest_of_fd(DIGEST_SHA1, fd, "f", &other, &e), 0);
	assert_false(digest_eq(&whole, &other));
	(void)close(fd);
	tmp_remove(path);
}

static void test_parse_prefix_and_case(void **state)
{
	struct digest d;
	struct err e;

	(void)state;
	assert_int_equal(digest_parse("sha1:" ABC_1, 45, &d, &e), 0);
	assert_int_equal(d.algo, DIGEST_SHA1);
	assert_int_equal(digest_parse("SHA256:" ABC_256, 71, &d, &e), 0);
	assert_int_equal(d.algo, DIGEST_SHA256);
	assert_int_equal(digest_parse("A9993E364706816ABA3E25717850C26C9CD0D89D", 40, &d, &e), 0);
	assert_int_equal(d.bytes[0], 0xa9);
	/* only n bytes count */
	assert_int_equal(digest_parse(ABC_1 "@http://x", 40, &d, &e), 0);
}

static void test_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"abc",
		"md5:900150983cd24fb0d6963f7d28e17f72",
		"900150983cd24fb0d6963f7d28e17f72",         /* md5's length */
		"sha256:" ABC_1,                            /* the prefix and the length disagree */
		"sha1:" ABC_256,                            /* likewise */
		"sha:" ABC_1,                               /* a prefix of a name */
		":" ABC_1,                                  /* no name */
		"g9993e364706816aba3e25717850c26c9cd0d89d", /* g */
		" 9993e364706816aba3e25717850c26c9cd0d89d",
	};
	struct digest d = { .algo = DIGEST_SHA512 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e;

		assert_true(digest_parse(cases[i], strlen(cases[i]), &d, &e) < 0);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_non_null(strstr(e.msg, "is not a digest"));
	}
	assert_int_equal(d.algo, DIGEST_SHA512);
}

static void test_eq_sees_every_byte(void **state)
{
	struct digest a, b;

	(void)state;
	digest_of(DIGEST_SHA512, "abc", 3, &a);
	for (size_t i = 0; i < digest_size(DIGEST_SHA512); i++) {
		b = a;
		b.bytes[i] ^= 0x80;
		assert_false(digest_eq(&a, &b));
	}
	b = a;
	b.algo = DIGEST_SHA256;
	assert_false(digest_eq(&a, &b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_answers),
		cmocka_unit_test(test_pieces_and_file),
		cmocka_unit_test(test_parse_prefix_and_case),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_eq_sees_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
