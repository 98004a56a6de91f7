#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/json.h"

static int parse(struct arena *a, const char *text, struct tree **t, struct err *e)
{
	return json_parse(a, "f.json", text, strlen(text), t, e);
}

static void reads_every_kind(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct err e = { 0 };
	struct tree *t = NULL;

	(void)state;
	assert_int_equal(parse(a,
			       "{\"z\": [1, -2.5, 1e3], \"a\": {\"t\": true, \"n\": null},"
			       " \"s\": \"true\", \"e\": {}}",
			       &t, &e),
			 0);
	assert_string_equal(t->items[0].key, "z");
	assert_string_equal(t->items[0].value->items[0].value->scalar, "1");
	assert_string_equal(t->items[0].value->items[1].value->scalar, "-2.5");
	assert_string_equal(t->items[0].value->items[2].value->scalar, "1000");
	assert_int_equal(tree_get(tree_get(t, "a"), "n")->kind, TREE_NULL);
	assert_false(tree_get(tree_get(t, "a"), "t")->quoted);
	assert_true(tree_get(t, "s")->quoted);
	assert_string_equal(tree_where(a, &tree_get(t, "s")->pos), "f.json");
}

static void refusals(void **state)
{
	static const char *const bad[] = { "",      "{",         "{\"a\": 1, \"a\": 2}",
					   "[1,]",  "{} {}",     "\"\\u0000\"",
					   "nope",  "\"\xff\"",  "1e999",
					   "{1:2}", "[\"a\nb\"]" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		autoarena struct arena *a = arena_new_empty();
		struct err e = { 0 };
		struct tree *t = NULL;

		if (parse(a, bad[i], &t, &e) >= 0)
			fail_msg("accepted: %s", bad[i]);
		assert_null(t);
		assert_int_equal(e.kind, ERR_CONFIG);
		assert_int_equal(strncmp(e.msg, "f.json:1:", 9) && strncmp(e.msg, "f.json:2:", 9),
				 0);
	}
}

static void deep_nesting_is_an_error(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	char text[8192];
	struct err e = { 0 };
	struct tree *t = NULL;

	(void)state;
	memset(text, '[', sizeof(text));
	assert_true(json_parse(a, "f", text, sizeof(text), &t, &e) < 0);
}

static struct tree *sample(struct arena *a)
{
	struct tree *list = tree_seq(a), *t = tree_map(a);

	(void)tree_add(a, list, tree_plain(a, "1.10"));
	(void)tree_add(a, list, tree_plain(a, "01"));
	(void)tree_add(a, list, tree_plain(a, "yes"));
	(void)tree_add(a, list, tree_plain(a, "false"));
	(void)tree_add(a, list, tree_string(a, "q\"\\\n\t/"));
	(void)tree_set(a, t, "list", list);
	(void)tree_set(a, t, "none", tree_map(a));
	return tree_set(a, t, "nil", tree_null(a));
}

static void writes_compact_and_pretty(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf compact = BUF_INIT(4096), pretty = BUF_INIT(4096);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(json_render(sample(a), false, &compact, &e), 0);
	assert_string_equal(buf_str(&compact),
			    "{\"list\":[1.10,\"01\",\"yes\",false,\"q\\\"\\\\\\n\\t/\"],"
			    "\"none\":{},\"nil\":null}");
	assert_int_equal(json_render(sample(a), true, &pretty, &e), 0);
	assert_string_equal(buf_str(&pretty), "{\n"
					      "  \"list\": [\n"
					      "    1.10,\n"
					      "    \"01\",\n"
					      "    \"yes\",\n"
					      "    false,\n"
					      "    \"q\\\"\\\\\\n\\t/\"\n"
					      "  ],\n"
					      "  \"none\": {},\n"
					      "  \"nil\": null\n"
					      "}");
}

static void render_failures(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	autobuf struct buf small = BUF_INIT(5), big = BUF_INIT(100);
	struct err e = { 0 };

	(void)state;
	assert_int_equal(json_render(sample(a), false, &small, &e), -EFBIG);
	assert_true(json_render(tree_string(a, "\xc3"), false, &big, &e) < 0);
	assert_string_equal(e.msg, "JSON text: a string is not UTF-8");
}

static void truncated(void **state)
{
	static const char text[] = "{\"Data\": [1.5e3, \"x\\u00e9\\n\", {\"k\": [true, null]}]}";

	(void)state;
	for (size_t n = 0; n < sizeof(text); n++) {
		autoarena struct arena *a = arena_new_empty();
		autofree char *exact = xcalloc(1, n);
		struct err e = { 0 };
		struct tree *t = NULL;

		memcpy(exact, text, n);
		assert_int_equal(json_parse(a, "f", exact, n, &t, &e) == 0, n == sizeof(text) - 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_every_kind),
		cmocka_unit_test(refusals),
		cmocka_unit_test(deep_nesting_is_an_error),
		cmocka_unit_test(writes_compact_and_pretty),
		cmocka_unit_test(render_failures),
		cmocka_unit_test(truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
