#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include "nodeup/base/yaml.h"
#include "nodeup/config/rules.h"

static bool holds(const char *text, const char *when)
{
	autoarena struct arena *a = arena_new_empty();
	struct rule_section section = { .path = "P" };
	const struct rule_values v = { &section, 1, 36 };
	struct tree *t = NULL;
	struct err e;

	assert_int_equal(yaml_parse(a, "f", text, strlen(text), &t, &e), 0);
	section.map = t;
	return rules_hold(&v, when);
}

static void a_condition_asks_what_is_given(void **state)
{
	(void)state;
	assert_true(holds("a: 1", "a"));
	assert_false(holds("a: ''", "a"));
	assert_false(holds("a:", "a"));
	assert_false(holds("a: []", "a"));
	assert_true(holds("a: []", "!a"));
	assert_true(holds("a: 1", "a&!b"));
	assert_false(holds("{a: 1, b: 2}", "a&!b"));
}

static void a_condition_asks_for_words(void **state)
{
	(void)state;
	assert_true(holds("a: x,y", "a=y"));
	assert_true(holds("a: [x, 'y,z']", "a=q|z"));
	assert_false(holds("a: x", "a=y|z"));
	assert_false(holds("b: x", "a=x"));
	assert_true(holds("b: x", "!a=x"));
	assert_false(holds("a: x", "!a=y|x"));
	assert_false(holds("a: xy", "a=x"));
	assert_true(holds("a: [x, z]", "a=q|[z]"));
	assert_true(holds("b: x", "a:x=x"));
	assert_true(holds("{a: [x, y], b: [y, z]}", "a@b"));
	assert_false(holds("{a: [x], b: [y, z]}", "a@b"));
	assert_true(holds("b: x", "a:/c@d:/c"));
	assert_true(holds("a: {b.c/d: 'false'}", "a.b.c/d=false"));
	assert_false(holds("a: {b: 'true'}", "a.b=false"));
	assert_true(holds("a: yes", "a=true"));
}

static void a_condition_compares_amounts(void **state)
{
	(void)state;
	assert_true(holds("a: 1", "a<2"));
	assert_false(holds("a: 2", "a<2"));
	assert_true(holds("a: 2", "a<=2"));
	assert_true(holds("a: -1", "a<0"));
	assert_true(holds("{a: 500m, b: 1}", "a<b"));
	assert_false(holds("{a: 1Ki, b: 1k}", "a<b"));
	assert_true(holds("{a: 1500ms, b: 1m}", "a<~b"));
	assert_false(holds("{a: 1500ms, b: 1m}", "a<b"));
	assert_false(holds("a: 1", "a<b"));
	assert_true(holds("a: 2399ms", "a<~b:2s*1.2"));
	assert_false(holds("a: 2.4s", "a<~b:2s*1.2"));
	assert_true(holds("a: 2.4s", "a<=~b:2s*1.2"));
	assert_true(holds("a: 0s", "a<=~0"));
	assert_true(holds("a: 1", "0<b:20&a<=1"));
	assert_false(holds("a: many", "a<2"));
}

static void a_condition_matches_a_text(void **state)
{
	(void)state;
	assert_true(holds("a: 10.0.0.0/8", "a~^10[.]"));
	assert_false(holds("a: 10.0.0.0/8", "!a~^10[.]"));
	assert_true(holds("a: 'x,y'", "a~,"));
	assert_true(holds("a: [x, z]", "a~^x,z$"));
	assert_false(holds("b: x", "a~x"));
	assert_true(holds("b: x", "!a~x"));
}

static void a_condition_compares_names(void **state)
{
	(void)state;
	assert_true(holds("a: 'x<1, x < 2'", "a#"));
	assert_false(holds("a: 'x<1,y<1'", "a#"));
	assert_true(holds("a: ['x=1:z', 'x=2:z']", "a#"));
	assert_true(holds("a: ['x:z', 'x=2:z']", "a#"));
	assert_false(holds("a: ['x=1:z', 'x=1:y']", "a#"));
	assert_false(holds("b: x", "a#"));
}

static void a_condition_compares_masks(void **state)
{
	(void)state;
	assert_true(holds("a: 10.0.0.0/25", "24<a"));
	assert_false(holds("a: 10.0.0.0/24", "24<a"));
	assert_true(holds("a: 'fd00::/47'", "a+16<64"));
	assert_false(holds("a: 'fd00::/48'", "a+16<64"));
	assert_false(holds("a: '10.0.0.0/8,fd00::/47'", "a<64"));
	assert_false(holds("b: 1", "a<64"));
}

/* Sections as kops 1.8 has them: where a string is Go's pointer, an empty one overlays what was there. */
static void an_empty_text_overlays_where_its_row_says_so(void **state)
{
	static const struct field rows[] = { { .key = "kept" },
					     { .key = "over", .pointer = true } };
	static const struct schema schema = { .fields = rows, .n = ARRAY_LEN(rows) };
	autoarena struct arena *a = arena_new_empty();
	struct tree *first = tree_map(a), *last = tree_map(a);
	const struct rule_section sections[] = { { "", first, &schema }, { "", last, &schema } };
	const struct rule_values v = { sections, 2, 8 };

	(void)state;
	tree_set(a, first, "kept", tree_string(a, "x"));
	tree_set(a, first, "over", tree_string(a, "x"));
	tree_set(a, last, "kept", tree_string(a, ""));
	tree_set(a, last, "over", tree_string(a, ""));
	assert_true(rules_hold(&v, "kept=x"));
	assert_true(rules_hold(&v, "!over"));
	assert_false(rules_hold(&v, "over=x"));
}

static void what_its_reader_refused_breaks_no_rule(void **state)
{
	autoarena struct arena *a = arena_new_empty();
	struct tree *map = tree_map(a), *bad = tree_string(a, "x"), *list = tree_seq(a);
	const struct rule_section section = { .map = map };
	const struct rule_values v = { &section, 1, 36 };

	(void)state;
	tree_set(a, map, "a", bad);
	tree_set(a, map, "b", tree_add(a, list, bad));
	tree_set(a, map, "c", tree_string(a, "x"));
	assert_true(rules_hold(&v, "a=x&b=x&c=x"));
	bad->is_wrong = true;
	assert_true(rules_hold(&v, "c=x"));
	assert_false(rules_hold(&v, "!a=y"));
	assert_false(rules_hold(&v, "c=x&!b=y"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_asks_what_is_given),
		cmocka_unit_test(a_condition_asks_for_words),
		cmocka_unit_test(a_condition_compares_amounts),
		cmocka_unit_test(a_condition_matches_a_text),
		cmocka_unit_test(a_condition_compares_names),
		cmocka_unit_test(a_condition_compares_masks),
		cmocka_unit_test(an_empty_text_overlays_where_its_row_says_so),
		cmocka_unit_test(what_its_reader_refused_breaks_no_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
