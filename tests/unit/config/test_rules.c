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
	assert_true(holds("b: x", "a!=x"));
	assert_false(holds("a: x", "a!=y|x"));
	assert_true(holds("b: x", "a:x=x"));
	assert_true(holds("{a: [x, y], b: [y, z]}", "a=@b"));
	assert_false(holds("{a: [x], b: [y, z]}", "a=@b"));
	assert_true(holds("b: x", "a:/c=@d:/c"));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_condition_asks_what_is_given),
		cmocka_unit_test(a_condition_asks_for_words),
		cmocka_unit_test(a_condition_compares_amounts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
