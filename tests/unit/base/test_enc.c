#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/enc.h"

/* RFC 4648 section 10. */
static void base64_vectors(void **state)
{
	static const char *const rows[][2] = {
		{ "", "" },
		{ "f", "Zg==" },
		{ "fo", "Zm8=" },
		{ "foo", "Zm9v" },
		{ "foob", "Zm9vYg==" },
		{ "fooba", "Zm9vYmE=" },
		{ "foobar", "Zm9vYmFy" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err e = { 0 };
		char *data = NULL;
		size_t n = 99;

		assert_string_equal(enc_base64(a, rows[i][0], strlen(rows[i][0])), rows[i][1]);
		assert_int_equal(enc_unbase64(a, rows[i][1], &data, &n, &e), 0);
		assert_int_equal(n, strlen(rows[i][0]));
		assert_string_equal(data, rows[i][0]);
	}
}

static void base64_of_all_bytes(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	unsigned char all[256];

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (unsigned char)(i * 7);
	for (size_t n = 0; n <= sizeof(all); n++) {
		struct err e = { 0 };
		char *data = NULL;
		size_t got = 0;

		assert_int_equal(enc_unbase64(a, enc_base64(a, all, n), &data, &got, &e), 0);
		assert_int_equal(got, n);
		assert_memory_equal(data, all, n);
		assert_int_equal(data[n], 0);
	}
}

static void base64_lines_are_fine(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct err e = { 0 };
	char *data = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(enc_unbase64(a, " Zm9v\r\nYm\tFy\n", &data, &n, &e), 0);
	assert_string_equal(data, "foobar");
}

static void what_is_not_base64(void **state)
{
	static const char *const bad[] = { "Z",       "Zg",   "Zg=",      "Zg===",   "=",
					   "====",    "Z===", "Zg==Zg==", "Zm9v=",   "Zm=v",
					   "S3CRET!", "Zm9-", "Zm9_",     "Zg= = =", "\xc3\xa9==" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct err e = { 0 };
		char *data = NULL;
		size_t n = 7;

		if (enc_unbase64(a, bad[i], &data, &n, &e) >= 0)
			fail_msg("accepted '%s'", bad[i]);
		assert_null(data);
		assert_int_equal(n, 7);
		assert_int_equal(e.kind, ERR_CONFIG);
		/* it may be a secret */
		assert_null(strstr(e.msg, "S3CRET"));
	}
}

static void hex_and_urls(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_string_equal(enc_hex(a, "\x00\x7f\x80\xff", 4), "007f80ff");
	assert_string_equal(enc_hex(a, "", 0), "");
	assert_string_equal(enc_url(a, "a/b c+%~._-\xc3\xa9", 0), "a%2Fb%20c%2B%25~._-%C3%A9");
	assert_string_equal(enc_url(a, "a/b?c=d&e", 1), "a/b%3Fc%3Dd%26e");
}

/* The header has no time, so that user data does not differ from run to run. */
static void gzip_is_deterministic(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	char text[5000] = { 0 };
	size_t n1 = 0, n2 = 0;
	const char *one = enc_gzip(a, text, sizeof(text), &n1);
	const char *two = enc_gzip(a, text, sizeof(text), &n2);

	(void)state;
	assert_int_equal(n1, n2);
	assert_memory_equal(one, two, n1);
	assert_memory_equal(one, "\x1f\x8b\x08\0\0\0\0\0", 8);
	assert_true(n1 < 100);
}

static void gzip_comes_back(void **state)
{
	static const char text[] = "one line\nand another\n";
	autoarena struct arena *a = arena_new_empty();
	struct err e;
	char *back = NULL;
	size_t n;
	const char *zipped = enc_gzip(a, text, strlen(text), &n);

	(void)state;
	assert_int_equal(enc_gunzip(a, zipped, n, sizeof(text), &back, &e), 0);
	assert_string_equal(back, text);
	assert_true(enc_gunzip(a, zipped, n, strlen(text) - 1, &back, &e) < 0);
	assert_non_null(strstr(e.msg, "more than 20 bytes"));
	assert_true(enc_gunzip(a, zipped, n - 1, sizeof(text), &back, &e) < 0);
	assert_true(enc_gunzip(a, text, strlen(text), sizeof(text), &back, &e) < 0);
	assert_int_equal(e.kind, ERR_CONFIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(base64_vectors),        cmocka_unit_test(base64_of_all_bytes),
		cmocka_unit_test(base64_lines_are_fine), cmocka_unit_test(what_is_not_base64),
		cmocka_unit_test(hex_and_urls),          cmocka_unit_test(gzip_is_deterministic),
		cmocka_unit_test(gzip_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
