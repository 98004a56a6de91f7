#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include "nodeup/base/buf.h"
#include "nodeup/base/near.h"
#include "nodeup/base/str.h"

static void splitting_and_joining(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		const char *joined;
	} rows[] = {
		{ "", 0, "" },   { "a", 1, "a" },   { "a,b", 2, "a|b" },
		{ ",", 2, "|" }, { "a,", 2, "a|" }, { ",,a", 3, "||a" },
	};
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct strv v = strv_split(a, rows[i].text, ',');

		assert_int_equal(v.n, rows[i].n);
		assert_string_equal(strv_join(a, &v, "|"), rows[i].joined);
	}
}

static void sorting_is_by_bytes(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv v = strv_split(a, "b,a=,a-x=,\xc3\xa9,B,a", ','), none = { 0 };

	(void)state;
	strv_sort(&none);
	strv_sort(&v);
	assert_string_equal(strv_join(a, &v, " "), "B a a-x= a= b \xc3\xa9");
	assert_true(strv_has(&v, "a="));
	assert_false(strv_has(&v, "A"));
}

static void lists_grow(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct strv v = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++)
		strv_add(a, &v, arena_printf(a, "%d", i));
	assert_int_equal(v.n, 1000);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(strtol(v.v[i], NULL, 10), i);
}

static void maps(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct strmap m = { 0 };

	(void)state;
	assert_null(strmap_get(&m, "a"));
	strmap_sort(&m);
	strmap_set(a, &m, "b", "1");
	strmap_set(a, &m, "a", "2");
	strmap_set(a, &m, "b", "3");
	assert_int_equal(m.n, 2);
	assert_string_equal(strmap_get(&m, "b"), "3");
	assert_string_equal(m.v[0].key, "b");
	strmap_sort(&m);
	assert_string_equal(m.v[0].key, "a");
}

static void small_helpers(void **state)
{
	autoarena struct arena *a = arena_new_empty();

	(void)state;
	assert_true(str_eq(NULL, NULL) && str_eq("a", "a"));
	assert_false(str_eq(NULL, "") || str_eq("a", NULL) || str_eq("a", "b"));
	assert_true(str_has_prefix("abc", "ab") && str_has_prefix("a", ""));
	assert_false(str_has_prefix("a", "ab"));
	assert_true(str_has_suffix("a.yaml", ".yaml") && str_has_suffix("", ""));
	assert_false(str_has_suffix("l", "ml"));
	assert_true(str_is_empty(NULL) && str_is_empty(""));
	assert_false(str_is_empty(" "));
	assert_string_equal(str_basename("/a/b"), "b");
	assert_string_equal(str_basename("b"), "b");
	assert_string_equal(str_basename("a/"), "");
	assert_string_equal(str_trim(a, " \t a b\r\n"), "a b");
	assert_string_equal(str_trim(a, " \n"), "");
}

static void arenas_give_zeroed_aligned_memory(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	char *big;

	(void)state;
	for (size_t n = 0; n < 200; n++) {
		char *p = arena_alloc(a, n);

		assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
	}
	big = arena_alloc(a, 100000);
	assert_int_equal(big[99999], 0);
	assert_null(arena_str(a, NULL));
	assert_string_equal(arena_strn(a, "abc", 2), "ab");
	arena_free(NULL);
}

static void buffers_keep_their_limit(void **state)
{
	autobuf struct buf b = BUF_INIT(5);
	struct err e = { 0 };
	autofree char *taken = NULL, *empty = NULL;

	(void)state;
	assert_string_equal(buf_str(&b), "");
	assert_int_equal(buf_addf(&b, "%d", 123), 0);
	assert_int_equal(buf_addc(&b, '4'), 0);
	assert_int_equal(buf_check(&b, "x", &e), 0);
	assert_int_equal(buf_adds(&b, "56"), -EFBIG);
	/* sticky: what would fit now is dropped too */
	assert_int_equal(buf_adds(&b, "5"), -EFBIG);
	assert_string_equal(buf_str(&b), "1234");
	assert_int_equal(buf_check(&b, "x", &e), -EFBIG);
	assert_string_equal(e.msg, "x: larger than 5 bytes");
	assert_int_equal(e.kind, ERR_CONFIG);
	taken = buf_take(&b);
	assert_string_equal(taken, "1234");
	assert_int_equal(b.len, 0);
	assert_false(b.overflow);
	assert_int_equal(buf_adds(&b, "12345"), 0);
	buf_done(&b);
	empty = buf_take(&b);
	assert_string_equal(empty, "");
}

static void buffers_hold_any_byte(void **state)
{
	autobuf struct buf b = BUF_INIT(1 << 20);
	char all[256];

	(void)state;
	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	for (int i = 0; i < 1000; i++)
		assert_int_equal(buf_add(&b, all, sizeof(all)), 0);
	assert_int_equal(b.len, 256000);
	assert_memory_equal(b.data + 999 * 256, all, 256);
	assert_int_equal(b.data[b.len], 0);
	assert_int_equal(buf_add(&b, NULL, 0), 0);
	assert_int_equal(buf_add(&b, all, SIZE_MAX), -EFBIG);
}

static void the_nearest_of_known_names(void **state)
{
	static const char *const names[] = { "plan", "apply", "repair", "ClusterName", "Assets" };
	static const struct {
		const char *word, *near;
	} rows[] = {
		{ "plam", "plan" },
		{ "paln", "plan" },
		{ "repairs", "repair" },
		{ "Asets", "Assets" },
		{ "assets", "Assets" },
		{ "ClusterNam", "ClusterName" },
		{ "CustlerName", "ClusterName" },
		/* nothing that a person could have meant */
		{ "pl", NULL },
		{ "", NULL },
		{ "volumes", NULL },
		{ "xyz", NULL },
	};
	char word[200] = "";

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *near = near_name(rows[i].word, names, ARRAY_LEN(names));

		if (!str_eq(near, rows[i].near))
			fail_msg("%s: %s", rows[i].word, near ? near : "(none)");
	}
	memset(word, 'x', sizeof(word) - 1);
	assert_null(near_name(word, names, ARRAY_LEN(names)));
	assert_null(near_name("plan", (const char *const[]){ word }, 1));
}

static void sizes_for_people(void **state)
{
	char text[STR_SIZE_MAX];

	(void)state;
	assert_string_equal(str_size(text, 0), "0 bytes");
	assert_string_equal(str_size(text, 512), "512 bytes");
	assert_string_equal(str_size(text, 1023), "1023 bytes");
	assert_string_equal(str_size(text, 48 << 10), "48 KiB");
	assert_string_equal(str_size(text, (uint64_t)500 << 30), "500 GiB");
	assert_string_equal(str_size(text, (uint64_t)3 << 29), "1.5 GiB");
}

static void paths_and_what_they_are_below(void **state)
{
	static const struct {
		const char *path, *dir;
		bool is;
	} rows[] = {
		{ "/a/b", "/a", true },  { "/a", "/a", true },    { "/a/b/c", "/a/b", true },
		{ "/a/b", "/a/", true }, { "/a", "/a/", true },   { "/ab", "/a/", false },
		{ "/ab", "/a", false },  { "/a", "/a/b", false }, { "/", "/a", false },
		{ "/a", "/", true },     { "/", "/", true },      { "/b/a", "/a", false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_is_within(rows[i].path, rows[i].dir) != rows[i].is)
			fail_msg("%s of %s", rows[i].path, rows[i].dir);
}

static void paths_are_absolute_and_clean(void **state)
{
	static const char *const good[] = { "/", "/a", "/a/", "/a/b.c/..d", "/.a/...", "/%s" };
	static const char *const bad[] = {
		"",      "a",  "-1",  "%s",     "./a",   "../a",  "//",
		"/a//b", "/.", "/..", "/a/./b", "/a/..", "/../a", "/a//"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!str_is_path(good[i]))
			fail_msg("'%s' is one", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (str_is_path(bad[i]))
			fail_msg("'%s' is none", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splitting_and_joining),
		cmocka_unit_test(sorting_is_by_bytes),
		cmocka_unit_test(lists_grow),
		cmocka_unit_test(maps),
		cmocka_unit_test(small_helpers),
		cmocka_unit_test(arenas_give_zeroed_aligned_memory),
		cmocka_unit_test(buffers_keep_their_limit),
		cmocka_unit_test(buffers_hold_any_byte),
		cmocka_unit_test(the_nearest_of_known_names),
		cmocka_unit_test(sizes_for_people),
		cmocka_unit_test(paths_and_what_they_are_below),
		cmocka_unit_test(paths_are_absolute_and_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
